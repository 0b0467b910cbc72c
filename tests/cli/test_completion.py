"""`splitmerge completion`: what the shells complete."""

import shutil
import subprocess

import pytest

from commands import refused
from splitmerge.cli import main
from splitmerge.cli.entry import COMMANDS

NAMES = [module.__name__.rpartition(".")[2] for module in COMMANDS]
BASH, ZSH, FISH = (shutil.which(name) for name in ("bash", "zsh", "fish"))


@pytest.fixture
def script(here, capsys):
    """The path of the script for a shell, in a folder with matrices."""

    def written(shell):
        assert main(["completion", shell]) == 0
        path = here / f"script.{shell}"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        return path

    return written


def offered(script, *words):
    """What bash offers for the last of the words."""
    typed = " ".join(f"'{word}'" for word in ("splitmerge", *words))
    code = f"""
        source {script}
        COMP_WORDS=({typed}) COMP_CWORD={len(words)}
        $(complete -p splitmerge | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    # the function changes COMPREPLY, so it runs in the shell itself
    code = code.replace("$(complete", "function=$(complete").replace("\\1/')\n", "\\1/'); $function\n")
    done = subprocess.run([BASH, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.mark.skipif(BASH is None, reason="no bash here")
class TestBash:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (["solve", "--which", ""], ["largest", "smallest", "magnitude", "ends"]),
            (["solve", "--which", "s"], ["smallest"]),
            (["solve", "--which", "=", "s"], ["smallest"]),
            (["--debug", "solve", "--b-policy", "r"], ["ridge", "restrict"]),
            (["solve", "K.mtx", "--method", "mir"], ["mirror-descent"]),
            (["solve", "K.mtx", "M.mtx", "--cert"], ["--certify"]),
            (["resume", "--preconditioner", "m"], ["multigrid"]),
            (["reproduce", "fig"], ["figure1", "figure2", "figure3"]),
            (["completion", ""], ["bash", "zsh", "fish"]),
            (["solve", "K"], ["K.mtx"]),
            (["solve", "K.mtx", "-o", "pa"], ["pair.npz"]),
            (["reproduce", "figure2", "--pair", "K.mtx", "M"], ["M.mtx"]),
            (["reproduce", "figure2", "--out", "K"], []),
            (["solve", "-k", ""], []),
            (["solve", "--interval", "1", ""], []),
        ],
    )
    def test_words(self, script, words, expected):
        assert offered(script("bash"), *words) == expected

    def test_commands_and_every_option(self, script):
        path = script("bash")
        assert offered(path, "") == [*NAMES, "--help", "--version", "--debug"]
        assert {"--which", "-k", "--resume", "--checkpoint", "-o", "--output"} <= set(offered(path, "solve", "-"))
        assert "--resume" not in offered(path, "resume", "-")

    def test_names_with_spaces(self, script, here):
        path = script("bash")
        (here / "my K.mtx").touch()
        assert offered(path, "info", "my") == ["my K.mtx"]


@pytest.mark.skipif(FISH is None, reason="no fish here")
def test_fish(script):
    path = script("fish")
    for typed, expected in (
        ("splitmerge solve --which s", {"smallest"}),
        ("splitmerge reproduce fig", {"figure1", "figure2", "figure3"}),
        ("splitmerge sol", {"solve"}),
    ):
        done = subprocess.run(
            [FISH, "--no-config", "-c", f"source {path}; complete -C '{typed}'"], capture_output=True, text=True
        )
        assert {line.partition("\t")[0] for line in done.stdout.splitlines()} == expected


@pytest.mark.skipif(ZSH is None, reason="no zsh here")
def test_zsh_accepts_it(script, here):
    path = script("zsh")
    code = f"autoload -U compinit; compinit -u -d {here}/dump; source {path}; print $_comps[splitmerge]"
    done = subprocess.run([ZSH, "-fc", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("_splitmerge\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_every_script(script, shell):
    text = script(shell).read_text(encoding="utf-8")
    assert all(name in text for name in NAMES)
    assert all(option in text for option in ("which", "checkpoint-every", "b-policy"))


def test_other_shells(capsys):
    assert "invalid choice: 'tcsh'" in refused(capsys, "completion", "tcsh")
