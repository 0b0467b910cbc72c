"""`splitmerge info`: properties of a pair, the plan of `solve` for it, and problems with the data."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..arguments import FILES, Code, Mistake, add_common, add_json, add_pair, epilog, read
from ..output import say, say_json
from ..wrapping import columns, wrapped

if TYPE_CHECKING:
    from ..facts.matrix import Facts

EXAMPLES = """\
  splitmerge info K.mtx M.mtx             sizes, definiteness, condition, ends of the spectrum, solution plan
  splitmerge info pair.npz --json         machine-readable output"""

NOTE = """Problems of a pair are reported as findings, with exit code 0; only an unreadable file is an error.
A and B are factorised, unless this is predicted to exceed 10 seconds or the available memory."""

# Condition number of B from which it is reported as nearly singular.
NEARLY_SINGULAR_CONDITION = 1e12


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "info",
        help="show the properties of a pair and how it would be solved",
        description="Report properties of a pair without solving the eigenvalue problem.",
        epilog=epilog(EXAMPLES, NOTE, FILES),
    )
    add_pair(parser)
    parser.add_argument("-k", type=int, default=6, metavar="N", help="number of eigenpairs to plan for (default: 6)")
    add_json(parser)
    add_common(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Examine the pair and print the result."""
    if args.k < 1:
        raise Mistake(f"argument -k: {args.k} is less than 1; give at least 1")
    told = examine(*read(args), args.k)
    if args.json:
        from ...bench.provenance import provenance

        say_json(told | {"provenance": provenance(args.typed, None)})
    else:
        say(wrapped(as_text(told), columns()))
    return Code.SUCCESS


def examine(A: Any, B: Any, k: int) -> dict[str, Any]:
    """All properties by name; unknown ones are None."""
    from ..facts.matrix import facts

    matrices = {"A": facts(A, "A")} | ({} if B is None else {"B": facts(B, "B")})
    findings = [text for matrix in matrices.values() for text in matrix.findings]
    if B is not None and A.shape != B.shape:
        findings.append(f"A is {A.shape[0]}×{A.shape[0]} and B is {B.shape[0]}×{B.shape[0]}: the sizes must be equal.")
    told: dict[str, Any] = {**matrices, "B": matrices.get("B"), "definiteness": {}, "condition": None, "costs": {}}
    told |= {"condition_A": None, "spectrum": None, "routes": {}, "findings": findings}
    if not findings:
        _look_deeper(A, B, min(k, A.shape[0]), told)
    return told


def _look_deeper(A: Any, B: Any, k: int, told: dict[str, Any]) -> None:
    """Add the properties that need factorisations, for a pair without findings so far."""
    from ..facts.pair import Definite, condition, costs, definiteness, operators, routes, spectrum

    op_A, op_B = operators(A, B)
    ways = routes(A, B, k)
    found: dict[str, Definite] = {}
    for name, op in (("A", op_A), ("B", op_B)):
        if op is not None:
            told["costs"][name] = costs(ways.predictions[name])
            found[name] = definiteness(op, told["costs"][name])
            told["definiteness"][name] = {key: getattr(found[name], key) for key in ("word", "how", "negative", "zero")}
    B_known = op_B is None or found["B"].definite
    if op_B is not None and B_known:
        told["condition"] = dict(zip(("number", "how"), condition(op_B, found["B"].factor), strict=True))
    told["findings"] += _about_B(found, told)
    if told["condition"] is not None and found["A"].definite:
        told["condition_A"] = dict(zip(("number", "how"), condition(op_A, found["A"].factor, "A"), strict=True))
        told["findings"] += _about_order(A, B, told)
    if B_known:
        told["spectrum"] = dict(zip(("largest", "smallest", "how"), spectrum(A, B), strict=True))
    if B_known or found["B"].word == "unknown":
        told["routes"] = ways.told()


def _about_order(A: Any, B: Any, told: dict[str, Any]) -> list[str]:
    from ..facts.pair import wrong_order

    why = wrong_order(A, B, told["condition_A"]["number"], told["condition"]["number"])
    return [f"{why}: are the files in the right order, the stiffness first?"] if why else []


def _about_B(found: dict[str, Any], told: dict[str, Any]) -> list[str]:
    B = found.get("B")
    if B is None or B.word == "unknown":
        return []
    if not B.definite:
        said = f"B is {B.word} ({B.how}): solve raises an error unless --b-policy is restrict or ridge."
        if told["B"].empty_rows:
            said += f" {told['B'].empty_rows} of its rows are zero."
        if B.word == "indefinite" and found["A"].definite:
            said += " A is positive definite: are the files in the right order?"
        return [said]
    number = told["condition"]["number"]
    nearly_singular = number > NEARLY_SINGULAR_CONDITION
    return [f"B is nearly singular: its condition number is about {number:.1e}."] if nearly_singular else []


def as_text(told: dict[str, Any]) -> str:
    """The properties as text."""
    from ..facts.pair import number

    lines = [*_matrix_lines(told["A"], told), *([] if told["B"] is None else _matrix_lines(told["B"], told))]
    if told["B"] is None:
        lines.append("B  the identity")
    for name, found in (("A", told["condition_A"]), ("B", told["condition"])):
        if found is not None:
            lines.append(f"condition of {name}  {number(found['number'], 3)}, {found['how']}")
    if told["spectrum"] is not None:
        ends = told["spectrum"]
        lines.append(
            f"spectrum  the largest eigenvalue is at least {number(ends['largest'], 6)}, the smallest at most "
            f"{number(ends['smallest'], 6)}: {ends['how']}"
        )
    for which, said in told["routes"].items():
        lines += [f"plan of solve for the {which} eigenvalues, in order", *(f"  {line}" for line in said)]
    findings = [f"finding: {text}" for text in told["findings"]]
    return "\n".join([*lines, *(findings or ["no problems found"])])


def _matrix_lines(matrix: Facts, told: dict[str, Any]) -> list[str]:
    from ..facts.pair import number

    n, name = matrix.n, matrix.name
    low, high = matrix.diagonal
    word = "Hermitian" if matrix.dtype.startswith("complex") else "symmetric"
    even = f"exactly {word}" if matrix.asymmetry == 0 else f"max |X − Xᴴ| = {matrix.asymmetry:.1e} max |X|"
    if matrix.asymmetry != matrix.asymmetry:
        even = f"not {word}: NaN or infinite entries"
    lines = [
        f"{name}  {n} × {n}, {matrix.kind}, {matrix.dtype}, {matrix.nonzeros} nonzeros ({100 * matrix.density:.3g} %)",
        f"   {even}; entries from {number(matrix.least)} to {number(matrix.largest)}, "
        f"diagonal from {number(low)} to {number(high)}",
    ]
    if name in told["definiteness"]:
        definite = told["definiteness"][name]
        lines.append(f"   {definite['word']}: {definite['how']}")
    cost = told["costs"].get(name)
    if cost is not None:
        lines.append(
            f"   factorisation by {cost.backend} is predicted to take {cost.seconds:.2g} s on one core and "
            f"{cost.bytes / 2**30:.2g} GiB"
        )
    return lines
