"""`splitmerge completion`: a script that lets a shell complete commands, options, their values and file names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..arguments import Code, add_common, epilog
from ..output import say

EXAMPLES = """\
  source <(splitmerge completion bash)     in ~/.bashrc
  source <(splitmerge completion zsh)      in ~/.zshrc, below compinit
  splitmerge completion fish               the script, to be saved as ~/.config/fish/completions/splitmerge.fish"""

# What an argument with this metavar or name takes; those of other names are numbers or words of the user's own.
FILES = ("FILE", "A", "B", "IN", "OUT")
FOLDERS = ("DIR",)


@dataclass(frozen=True)
class Value:
    """An argument: its flags (none if it is positional), its help, and what it takes.

    `kind` is "none" for a switch, "file", "folder", "word" for one of `choices`, or "any".
    """

    flags: tuple[str, ...]
    told: str
    kind: str
    choices: tuple[str, ...] = ()
    count: int = 1


def add(subparsers: Any) -> None:
    """Add the parser of this command."""
    parser = subparsers.add_parser(
        "completion",
        help="print a script for completion in bash, zsh or fish",
        description="Print a script that completes commands, options, their values and file names in a shell.",
        epilog=epilog(EXAMPLES),
    )
    parser.add_argument("shell", choices=tuple(SCRIPTS), metavar="SHELL", help=", ".join(SCRIPTS))
    add_common(parser)
    # the commands added after this one are in it, too
    parser.set_defaults(run=run, parsers=subparsers)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    say(SCRIPTS[args.shell](commands(args.parsers)))
    return Code.SUCCESS


def commands(parsers: Any) -> dict[str, tuple[str, list[Value]]]:
    """The help and the arguments of every command, from their parsers."""
    told = {action.dest: action.help or "" for action in parsers._choices_actions}
    return {name: (told[name], [_value(each) for each in parser._actions]) for name, parser in parsers.choices.items()}


def _value(action: argparse.Action) -> Value:
    from ..names import PRECONDITIONERS, methods

    known: dict[str, Iterable[str]] = {"method": methods(), "preconditioner": PRECONDITIONERS}
    choices = tuple(map(str, action.choices or known.get(action.dest, ())))
    named = action.metavar if isinstance(action.metavar, str) else (action.metavar or (action.dest,))[0]
    kind = "word" if choices else "file" if named in FILES else "folder" if named in FOLDERS else "any"
    # the ends of an interval have the names of the matrices
    kind = "any" if action.type is not None else kind
    count = action.nargs if isinstance(action.nargs, int) else 1
    return Value(tuple(action.option_strings), action.help or "", "none" if action.nargs == 0 else kind, choices, count)


def bash(known: dict[str, tuple[str, list[Value]]]) -> str:
    """The script for bash, which needs none of its optional helpers."""
    cases, options = [], []
    for name, (_, values) in known.items():
        flags = [flag for value in values for flag in value.flags]
        words = " ".join(choice for value in values if not value.flags for choice in value.choices)
        options.append(f'        {name}) options="{" ".join(flags)}" words="{words}" ;;')
        cases += [
            f"        {'|'.join(f'{name}:{flag}' for flag in value.flags)}) {_bash_action(value)}; return ;;"
            for value in values
            if value.flags and value.kind != "none"
        ]
    pairs = [f"{n}:{flag}" for n, (_, values) in known.items() for v in values if v.count > 1 for flag in v.flags]
    return BASH.format(
        commands=" ".join(known), options="\n".join(options), cases="\n".join(cases), pairs="|".join(pairs)
    )


def _bash_action(value: Value) -> str:
    if value.kind == "word":
        return f'COMPREPLY=($(compgen -W "{" ".join(value.choices)}" -- "$word"))'
    return {"file": "_splitmerge_paths -f", "folder": "_splitmerge_paths -d"}.get(value.kind, "COMPREPLY=()")


BASH = """\
# bash completion for splitmerge, printed by: splitmerge completion bash
_splitmerge_paths() {{
    local IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen "$1" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
_splitmerge() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command="" options="" words="" place
    COMPREPLY=()
    # --option=value is three words to bash
    if [[ $word == "=" ]]; then word=""; elif [[ $before == "=" ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
    for ((place = 1; place < COMP_CWORD; place++)); do
        if [[ ${{COMP_WORDS[place]}} != -* ]]; then command=${{COMP_WORDS[place]}}; break; fi
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W "{commands} --help --version --debug" -- "$word"))
        return
    fi
    # the second value of an option that takes two
    if ((COMP_CWORD > 2)); then
        case "$command:${{COMP_WORDS[COMP_CWORD-2]}}" in {pairs}) before=${{COMP_WORDS[COMP_CWORD-2]}} ;; esac
    fi
    case "$command:$before" in
{cases}
    esac
    case "$command" in
{options}
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ -n $words ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        _splitmerge_paths -f
    fi
}}
complete -F _splitmerge splitmerge"""


def zsh(known: dict[str, tuple[str, list[Value]]]) -> str:
    """The script for zsh."""
    lines = ["#compdef splitmerge", "# printed by: splitmerge completion zsh", "_splitmerge() {", "  local -a commands"]
    lines.append("  commands=(" + " ".join(f"'{name}:{_zsh_text(told)}'" for name, (told, _) in known.items()) + ")")
    lines.append("  if (( CURRENT == 2 )); then _describe command commands; return; fi")
    lines += ["  local command=$words[2]", "  shift words; (( CURRENT-- ))", "  case $command in"]
    for name, (_, values) in known.items():
        specifications = dict.fromkeys(part for value in values for part in _zsh_parts(value))
        lines.append(f"    {name}) _arguments -s " + " ".join(f"'{each}'" for each in specifications) + " ;;")
    return "\n".join([*lines, "  esac", "}", 'if [[ $funcstack[1] == _splitmerge ]]; then _splitmerge "$@"', *ZSH_END])


ZSH_END = ("else compdef _splitmerge splitmerge", "fi")


def _zsh_parts(value: Value) -> Iterator[str]:
    takes = {"file": ":file:_files", "folder": ":folder:_files -/", "any": ":value: ", "none": ""}.get(value.kind)
    takes = f":value:({' '.join(value.choices)})" if takes is None else takes
    for flag in value.flags:
        yield f"{flag}[{_zsh_text(value.told)}]{takes * value.count}"
    if not value.flags:
        yield f"*{takes}" if value.kind == "file" else takes


def _zsh_text(text: str) -> str:
    """The text without what has a meaning inside single quotes and brackets of a specification."""
    return text.translate(str.maketrans("'[]:\\", "’();/"))


def fish(known: dict[str, tuple[str, list[Value]]]) -> str:
    """The script for fish."""
    lines = ["# printed by: splitmerge completion fish"]
    for name, (told, _) in known.items():
        lines.append(f"complete -c splitmerge -f -n __fish_use_subcommand -a {name} -d '{_fish_text(told)}'")
    for name, (_, values) in known.items():
        start = f"complete -c splitmerge -n '__fish_seen_subcommand_from {name}'"
        for value in values:
            if value.flags:
                flags = [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in value.flags]
                lines.append(f"{start} {' '.join(flags)}{_fish_takes(value)} -d '{_fish_text(value.told)}'")
            elif value.choices:
                lines.append(f"{start} -f -a '{' '.join(value.choices)}'")
    return "\n".join(lines)


def _fish_takes(value: Value) -> str:
    if value.kind == "word":
        return f" -x -a '{' '.join(value.choices)}'"
    return {"none": "", "file": " -r -F", "folder": " -x -a '(__fish_complete_directories)'"}.get(value.kind, " -x")


def _fish_text(text: str) -> str:
    return text.replace("\\", "/").replace("'", "’")


SCRIPTS: dict[str, Callable[[dict[str, tuple[str, list[Value]]]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
