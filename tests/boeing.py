"""Harwell–Boeing files, written as no library writes them any more."""

import numpy as np
import scipy.sparse as sp


def boeing(tmp_path, M, kind, *, value_format="(3E25.16)", name="A.hb", right_sides=False, values=True):
    """Write the lower triangle (everything for an unsymmetric kind) as a Harwell–Boeing file."""
    M = sp.csc_array(M if kind[1] == "U" else sp.tril(M))
    M.sort_indices()
    width = 25

    def block(numbers, a_line, form):
        fields = [form(number) for number in numbers]
        return ["".join(fields[i : i + a_line]) for i in range(0, len(fields), a_line)]

    pointers = block(M.indptr + 1, 8, lambda i: f"{i:10d}")
    indices = block(M.indices + 1, 8, lambda i: f"{i:10d}")
    numbers = np.column_stack([M.data.real, M.data.imag]).ravel() if kind[0] == "C" else M.data
    exponent = "D" if "D" in value_format else "E"
    data = block(numbers, 3, lambda x: f"{x:{width}.16E}".replace("E", exponent)) if values else []
    counts = [len(pointers) + len(indices) + len(data), len(pointers), len(indices), len(data)]
    lines = [f"{'a test':72s}{'TEST':8s}"]
    lines.append("".join(f"{count:14d}" for count in (*counts, 1 if right_sides else 0)))
    lines.append(f"{kind}           " + "".join(f"{count:14d}" for count in (*M.shape, M.nnz, 0)))
    lines.append(f"{'(8I10)':16s}{'(8I10)':16s}{value_format:20s}{'(3E25.16)':20s}")
    if right_sides:
        lines.append("F" + " " * 13 + f"{1:14d}{0:14d}")
    path = tmp_path / name
    path.write_text("\n".join([*lines, *pointers, *indices, *data]) + "\n")
    return path
