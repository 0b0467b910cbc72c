"""The program of the page about MPI runs as it stands there."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "mpi.md"


def test_the_program_of_the_page(launch, tmp_path):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    script = tmp_path / "laplacian.py"
    script.write_text(program, encoding="utf-8")
    done = launch(2, check=False, module=script)
    assert done.returncode == 0, done.stderr
    assert "9.8696" in done.stdout
