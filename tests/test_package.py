"""The wheel and the sdist: their files, their installation where nothing is installed, and the README there."""

import re
import sys
import tomllib

import pytest
from tools.package.build import SDIST, build, check, files_of_sdist, files_of_wheel
from tools.package.empty import Empty
from tools.package.readme import Step, blocks, execute, lines_of

import splitmerge as sm
from sources import PATHS, ROOT, SRC

README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = {
    "splitmerge/py.typed",
    *(f"splitmerge/bench/report/{name}" for name in ("plot.js", "report.css", "report.js")),
}


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The wheel and the sdist."""
    pytest.importorskip("build", reason="build is not installed; make install")
    pytest.importorskip("twine", reason="twine is not installed; make install")
    return build(tmp_path_factory.mktemp("dist"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.slow
class TestArchives:
    def test_twine(self, archives):
        assert check(*archives).count("PASSED") == 2

    def test_files(self, archives):
        wheel, sdist = archives
        assert [path.name for path in archives] == [
            f"splitmerge_eigen-{sm.__version__}-py3-none-any.whl",
            f"splitmerge_eigen-{sm.__version__}.tar.gz",
        ]
        package, metadata = files_of_wheel(wheel)
        assert package == DATA | {path.relative_to(SRC).as_posix() for path in PATHS.values()}
        assert metadata == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}
        assert files_of_sdist(sdist) == SDIST | {f"src/{name}" for name in package}


class TestCitation:
    CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

    def test_version_and_licence(self):
        assert f"\nversion: {sm.__version__}\n" in self.CITATION
        assert f"\nlicense: {project()['license']}\n" in self.CITATION

    def test_paper(self):
        title = "Split-Merge Revisited: A Scalable Approach to Generalized Eigenvalue Problems"
        assert title in self.CITATION
        assert "value: arXiv:2507.02389\n" in self.CITATION
        assert title in " ".join(README.split())


class TestReadme:
    def test_installs_from_a_clone(self):
        lines = lines_of(README, "pip")
        assert lines[0] == "pip install ."
        extras = [extra for line in lines for extra in re.findall(r"\[(.*)\]", line)]
        assert {"learn", "plot", "reproduce"} == set(extras) <= set(project()["optional-dependencies"])
        assert "splitmerge[" not in README

    def test_blocks_know_their_lines(self):
        for block in blocks(README, "python", "console"):
            assert README.splitlines()[block.line - 1] == block.text.splitlines()[0]

    def test_a_block_that_fails_is_told_by_its_line(self):
        (step,) = execute("# Use\n\n```python\nx = 1\n1 / 0\n```\n", "none.whl")
        assert (step.line, step.state) == (4, "failed")
        assert 'File "README.md", line 5' in step.why
        assert "ZeroDivisionError" in step.why

    def test_lines_that_are_not_run_have_a_reason(self):
        text = "```console\nmake demo  # a table\nmpiexec -n 4 splitmerge solve\nrm -r /\n```\n"
        steps = list(execute(text, "none.whl"))
        assert [(step.line, step.text, step.state) for step in steps] == [
            (2, "make demo", "not run"),
            (3, "mpiexec -n 4 splitmerge solve", "not run"),
            (4, "rm -r /", "failed"),
        ]
        assert all(step.why for step in steps)
        assert str(Step(3, "x", "run", seconds=0.5)) == "run        3  x  (0.5 s)"
        assert str(Step(3, "x", "not run", "why")) == "not run    3  x: why"


@pytest.mark.slow
def test_an_empty_environment(archives, tmp_path):
    """Install the wheel and use it; execute the README, which installs the extras; uninstall."""
    empty = Empty(tmp_path / "venv").make()
    if not empty.reaches_an_index():
        pytest.skip("pip reaches no package index from here")
    wheel = archives[0]
    script = ROOT / "tools" / "package" / "readme.py"
    done = empty.run("python", "-m", "pip", "install", wheel)
    assert done.returncode == 0, done.stderr
    assert empty.run("splitmerge", "--version").stdout == f"splitmerge {sm.__version__}\n"
    program = (
        "import splitmerge as sm; print(sm.__file__, *sm.solve(*sm.gallery.mikota_chain(9), k=2).eigenvalues.round(9))"
    )
    file, *values = empty.run("python", "-c", program).stdout.split()
    assert file.startswith(str(empty.folder))
    assert values == ["81.0", "64.0"]
    done = empty.run("python", "-m", "splitmerge", "demo", "--n", 40)
    assert done.returncode == 0
    assert "No plot: it needs matplotlib" in done.stdout

    folder = tmp_path / "readme"
    folder.mkdir()
    done = empty.run("python", "-I", script, ROOT / "README.md", wheel, "--folder", folder)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"^not run (?!.*(make|mpiexec|reproduce all))", done.stdout, re.M)

    assert empty.traces_of("splitmerge")
    done = empty.run("python", "-m", "pip", "uninstall", "--yes", "splitmerge-eigen")
    assert done.returncode == 0
    assert empty.traces_of("splitmerge") == []
