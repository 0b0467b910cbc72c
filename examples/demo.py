"""Every method on one synthetic pair: a table, and how each converges as a picture.

Run it with `make demo`, or `python examples/demo.py --n 512 --kappa 10 --out out/demo.png`: it is `splitmerge demo`.
"""

import sys

from splitmerge.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
