"""Run the benchmarks, all or by name: `python -m bench`, `python -m bench correlations inference`.

Each module of this folder has `main()` and prints its own table of ratios, measured side by side in one run.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def main() -> None:
    known = sorted(
        m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.name.startswith("_")
    )
    asked = sys.argv[1:] or known
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    sys.argv = sys.argv[:1]
    for name in asked:
        print(f"\n== {name} ==", flush=True)
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
