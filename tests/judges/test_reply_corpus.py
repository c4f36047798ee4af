"""Replies with labels: how often the parser reads a wrong rating. Constructed ones are here, real ones in the data."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from nlgauge.metrics.judge.reply_parser import parse_reply
from nlgauge.metrics.judge.scale import Scale

HERE = Path(__file__).parent
CONSTRUCTED = [json.loads(line) for line in (HERE / "constructed_replies.jsonl").read_text("utf-8").splitlines()]
REAL = Path(os.environ.get("NLGAUGE_DATA", ".")) / "summeval" / "summeval_llm_judge_responses.jsonl.gz"


def outcome(reply: str, label: float | None, scale: str, **more: Any) -> str:
    value = parse_reply(reply, Scale.parse(scale), **more).value
    return "right" if value == label else "refused" if value is None else "wrong"


def constructed(row: dict[str, Any]) -> str:
    more = {key: row[key] for key in ("code", "judged", "aspect") if key in row}
    return outcome(row["reply"], row["label"], row["scale"], **more)


def real() -> list[str]:
    if not REAL.exists():
        pytest.skip("the real replies lie in NLGAUGE_DATA/summeval, which is not here")
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    by_hand = json.loads((HERE / "read_by_hand.json").read_text())
    return [
        outcome(rows[i]["resp"], label, "A-E" if "mcq" in rows[i]["method"] else "1-5")
        for i, label in [*by_hand["replies"], *by_hand["more"]]
    ]


def test_no_quoted_or_reported_injection_is_read_as_a_rating() -> None:
    """A2."""
    rows = [row for row in CONSTRUCTED if "injection" in row["kind"]]
    assert len(rows) >= 200
    assert [row["reply"] for row in rows if constructed(row) == "wrong"] == []


def test_constructed_replies_are_read_as_labeled() -> None:
    """A2, A3: of 616 usual ones 8 are refused that an annotator would read, of 1,203 in odd styles 196; none is wrong.

    The kinds "hostile 1" to "hostile 6" were labeled before the parser saw them, which read 11 of 366, 4 of 112, 8 of
    108, 9 of 103, 6 of 95 and 2 of 60 wrongly (of injections 2 of 45, 2 of 25, 5 of 25, 5 of 30, 1 of 25 and 2 of 20).
    """
    assert len(CONSTRUCTED) >= 400
    outcomes = [(row, constructed(row)) for row in CONSTRUCTED]
    assert [row["reply"] for row, outcome in outcomes if outcome == "wrong"] == []
    refused = [row["kind"].startswith("odd styles") for row, outcome in outcomes if outcome == "refused"]
    assert (refused.count(False), refused.count(True)) <= (8, 196)


def test_at_most_one_in_500_labeled_replies_is_read_wrongly() -> None:
    """The exact 95% upper limit over all replies with labels, real and constructed; refusals count separately."""
    outcomes = [*real(), *map(constructed, CONSTRUCTED)]
    assert len(outcomes) >= 2000
    wrong = binomtest(outcomes.count("wrong"), len(outcomes)).proportion_ci(method="exact")
    assert wrong.high <= 0.002
    assert outcomes.count("refused") <= 205
