"""Run the benchmarks of speed, or any by name: `python -m bench`, `python -m bench correlations inference`.

Each one prints its own table of CPU times and ratios, measured next to the other libraries in one run.
`python -m bench --write docs/benchmarks.md` also writes the page with the machine, the versions and the date. The other
modules of this folder with `main()` are simulations and studies, which take minutes to hours.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

SPEED = ["correlations", "inference", "agreement", "scoring", "start"]  # the sections of docs/benchmarks.md


def main() -> None:
    here = Path(__file__).parent
    known = sorted(
        path.stem for path in here.glob("[a-z]*.py") if "\ndef main()" in path.read_text(encoding="utf-8")
    )  # the tables of simulations are written by `python -m bench.coverage`
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(known)}; by default {', '.join(SPEED)}"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page, e.g. docs/benchmarks.md")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in known]:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = asked.names or SPEED
    if asked.write:
        from bench._page import write

        sys.exit(write(asked.write, chosen))
    sys.argv = sys.argv[:1]
    for name in chosen:
        print(f"\n== {name} ==", flush=True)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
