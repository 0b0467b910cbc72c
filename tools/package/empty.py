"""An environment in which nothing but pip is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

# Variables by which packages from elsewhere would be found.
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Empty:
    """A virtual environment in `folder`, made by `python` or by this interpreter."""

    folder: Path
    python: str = sys.executable

    def make(self) -> Empty:
        """Make it; this environment with pip in it."""
        subprocess.run([self.python, "-m", "venv", str(self.folder)], check=True)
        return self

    @property
    def scripts(self) -> Path:
        """The folder of its programs."""
        return Path(venv.EnvBuilder().ensure_directories(str(self.folder)).bin_path)

    def run(
        self, program: str, *words: object, cwd: Path | None = None, capture: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, with one BLAS thread."""
        environ = {name: value for name, value in os.environ.items() if name not in FOREIGN}
        path = os.pathsep.join([str(self.scripts), environ.get("PATH", "")])
        environ |= {"PATH": path, "OPENBLAS_NUM_THREADS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        command = [str(self.scripts / program), *map(str, words)]
        return subprocess.run(command, capture_output=capture, encoding="utf-8", env=environ, cwd=cwd or self.folder)

    def reaches_an_index(self) -> bool:
        """Can pip find a package that splitmerge needs?"""
        offline = ["--retries", "0", "--timeout", "20"]
        return self.run("python", "-m", "pip", "install", "--dry-run", "--no-deps", *offline, "tqdm").returncode == 0

    def traces_of(self, name: str) -> list[str]:
        """The files and folders whose names begin with a name, in its libraries and among its programs."""
        found = [*self.folder.glob("[Ll]ib*/**/site-packages/*"), *self.scripts.iterdir()]
        return sorted({str(path.relative_to(self.folder)) for path in found if path.name.startswith(name)})
