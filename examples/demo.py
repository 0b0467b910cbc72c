"""All methods on one synthetic pair, as a table and a convergence plot (the same as `splitmerge demo`).

Run it with `make demo`, or `python examples/demo.py --n 512 --kappa 10 --out out/demo.png`.
"""

import sys

from splitmerge.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
