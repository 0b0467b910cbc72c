"""`python -m tools.package`: wheel and sdist in dist/, checked, and the README executed in an empty environment."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from .build import ARCHIVES, ROOT, build, check
from .empty import Empty


def main() -> int:
    """Build, check, install and execute; the exit code is 1 if a line of the README failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.package", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of wheel and sdist (default: dist)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of the empty environment")
    parser.add_argument("--long", action="store_true", help="run the lines that take minutes, too")
    args = parser.parse_args()
    for old in args.out.glob(ARCHIVES):
        old.unlink()
    wheel, sdist = build(args.out)
    print(check(wheel, sdist), end="", flush=True)
    with TemporaryDirectory() as place:
        empty = Empty(Path(place) / "venv", args.python).make()
        long = ["--long"] if args.long else []
        script = Path(__file__).with_name("readme.py")
        words = ["-I", script, ROOT / "README.md", wheel, "--folder", place, *long]
        done = empty.run("python", *words, capture=False)
        empty.run("python", "-m", "pip", "uninstall", "--yes", "splitmerge-eigen")
        left = empty.traces_of("splitmerge")
        print(f"uninstalled; left: {', '.join(left) or 'nothing'}")
    return int(bool(done.returncode or left))


if __name__ == "__main__":
    sys.exit(main())
