"""The walks of docs/architecture.md are those that a real run takes, as docs/walk.py traces them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
MAX_STEPS = 30  # a longer walk means that the code has become longer, not that the number may grow
HEADINGS = ("A rating, to its interval on the page", "A text, to its stored score", "A label, to the exit code of gate")


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("walk", DOCS / "walk.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["walk"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("heading", HEADINGS)
def test_the_page_lists_the_walk_that_a_run_takes(script: Any, heading: str) -> None:
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\d+\. `([\w/]+\.py:\w+)`", part, re.M)
    walk = next(walk for walk in script.WALKS if walk.heading == heading)
    # The order of first calls differs between runs where two analyses share a function.
    assert sorted(listed) == sorted(script.walked(walk)), "python docs/walk.py writes the page"
    assert 5 <= len(listed) <= MAX_STEPS
