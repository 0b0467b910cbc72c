"""Build the wheel and the sdist of this checkout, and look into them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
ARCHIVES = "splitmerge_eigen-*"
# What the sdist has beside the files of the wheel; setuptools writes the last ones.
SDIST = {
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "pyproject.toml",
    "PKG-INFO",
    "setup.cfg",
}


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, written to the folder.

    They are built of a copy of the files that git knows or would add: setuptools also packs what an earlier build left
    in `build/` and in the list of files of `*.egg-info`.
    """
    with TemporaryDirectory() as place:
        _copy(Path(place))
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), place]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"python -m build failed:\n{done.stdout}{done.stderr}")
    (wheel,), (sdist,) = (folder.glob(ARCHIVES + ending) for ending in (".whl", ".tar.gz"))
    return wheel, sdist


def check(*archives: Path) -> str:
    """What `twine check --strict` says; raises an error if it finds a fault."""
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *map(str, archives)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"twine check failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def tracked() -> list[str]:
    """The files that git knows or would add, by their paths."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


def files_of_wheel(wheel: Path) -> tuple[set[str], set[str]]:
    """The files of the package, and those of its metadata without the name of their folder."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name for name in names if name.startswith("splitmerge/")}
    return package, {name.partition("/")[2] for name in names - package}


def files_of_sdist(sdist: Path) -> set[str]:
    """The files, without the name of the folder that they are in, and without the metadata that setuptools adds."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    return {name for name in names if ".egg-info/" not in name}


def _copy(place: Path) -> None:
    for name in tracked():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, place / name)
