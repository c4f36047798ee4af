"""Run the benchmarks, all or by name: `python -m bench`, `python -m bench correlations inference`.

Each module of this folder with `main()` prints its own table of ratios, measured side by side in one run.
`python -m bench --write docs/benchmarks.md` also writes a page with the machine, the versions and the date.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    known = sorted(
        path.stem for path in here.glob("[a-z]*.py") if "\ndef main()" in path.read_text(encoding="utf-8")
    )  # the tables of simulations are written by `python -m bench.coverage`
    parser = argparse.ArgumentParser(prog="python -m bench", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page, e.g. docs/benchmarks.md")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in known]:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = asked.names or known
    if asked.write:
        from bench._page import write

        sys.exit(write(asked.write, chosen))
    sys.argv = sys.argv[:1]
    for name in chosen:
        print(f"\n== {name} ==", flush=True)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
