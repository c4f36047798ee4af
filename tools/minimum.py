"""The oldest version of each package that `pyproject.toml` allows, as constraints of pip.

`python tools/minimum.py > constraints-minimum.txt`; tests/test_packaging.py checks that the file is up to date.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
# Tools that build, test or document the package do not meet its users.
LEFT_OUT = ("dev", "bench", "docs")
HEAD = "# Written by tools/minimum.py from pyproject.toml: the oldest version of each package that is allowed.\n"


def minimums(project: Path = PROJECT) -> str:
    facts = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = facts["optional-dependencies"]
    needs = [*facts["dependencies"], *(need for extra in extras if extra not in LEFT_OUT for need in extras[extra])]
    found: dict[str, tuple[int, ...]] = {}
    for need in needs:
        name, _, least = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(?:(>=|==)([\d.]+))?", need).groups()  # type: ignore[union-attr]
        if least and not name.startswith("nlgauge"):
            found[name] = max(found.get(name, ()), tuple(map(int, least.split("."))))
    return HEAD + "".join(f"{name}=={'.'.join(map(str, found[name]))}\n" for name in sorted(found))


if __name__ == "__main__":
    print(minimums(), end="")
