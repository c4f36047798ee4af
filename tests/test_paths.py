"""The two paths of docs/architecture.md, hop by hop, are those that a real run takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
PAGE = (REPO / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST = 20
# Runs a command in one thread and prints the functions of the package in the order of their first calls: with several
# threads, the order differs from run to run.
TRACED = """
import json, os, sys, threading
os.cpu_count = lambda: 1
seen = {}
def look(frame, event, arg):
    if event == "call" and "/nlgauge/" in frame.f_code.co_filename:
        seen.setdefault(frame.f_code.co_filename.rpartition("/nlgauge/")[2] + ":" + frame.f_code.co_name)
threading.setprofile(look); sys.setprofile(look)
from nlgauge.cli import main
sys.argv = ["nlgauge", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print("\\n" + json.dumps(list(seen)))
"""


def hops(heading: str) -> list[str]:
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py:\w+)`", part, re.M)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "command"),
    [
        ("A rating, to its interval on the page", ["run", "mine.csv", "--quick", "-o", "{tmp}/page.html"]),
        ("A text, to its stored score", ["score", "judged.csv", "--metrics", "perplexity(lm='trigram')", "-o",
                                         "{tmp}/scored.jsonl"]),
    ],
)  # fmt: skip
def test_a_path_has_at_most_twenty_hops_in_the_order_of_the_page(
    heading: str, command: list[str], tmp_path: Path
) -> None:
    listed = hops(heading)
    assert 5 <= len(listed) <= MOST
    words = [word.format(tmp=tmp_path) for word in command]
    run = subprocess.run(
        [sys.executable, "-c", TRACED, *words], cwd=REPO / "examples", capture_output=True, text=True, check=True,
        env={**os.environ, "NLGAUGE_STORE": str(tmp_path / "scores.sqlite")},
    )  # fmt: skip
    called = json.loads(run.stdout.splitlines()[-1])
    assert [hop for hop in listed if hop not in called] == []
    places = [called.index(hop) for hop in listed]
    assert places == sorted(places), [listed[i] for i in range(1, len(places)) if places[i] < places[i - 1]]
