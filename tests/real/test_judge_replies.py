"""43,512 replies of real judges on SummEval: what the parser reads, beside people reading, and what the judges are
worth.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import spearmanr

from nlgauge.metrics.judge.reply_parser import parse_reply
from nlgauge.metrics.judge.scale import Scale

BY_HAND = Path(__file__).parents[1] / "judges" / "read_by_hand.json"
FIVE, LETTERS = Scale.parse("1-5"), Scale.parse("A-E")
# Replies out of 4,800 (mcq 5,100, altmcq 4,812) that are refused: 46 in all, 18 of them state several that disagree.
UNSCORED = {
    "gpt-3.5-turbo-0301/altmcq": 0, "gpt-3.5-turbo-0301/altrts": 1, "gpt-3.5-turbo-0301/mcq": 0,
    "gpt-3.5-turbo-0301/rts": 7,
    "gpt-3.5-turbo-0301/stareval": 0, "gpt-4-0314/rts": 2, "llama-2-13b-chat-hf/rts": 21, "llama-2-70b-chat-hf/rts": 8,
    "llama-2-7b-chat-hf/rts": 7,
}  # fmt: skip


@pytest.fixture(scope="module")
def replies(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    data: Path = request.getfixturevalue("real_data")
    with gzip.open(data / "summeval" / "summeval_llm_judge_responses.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read(reply: dict[str, Any]) -> float | None:
    return parse_reply(reply["resp"], LETTERS if "mcq" in reply["method"] else FIVE).value


def test_300_replies_read_by_hand_are_all_read_alike(replies: list[dict[str, Any]]) -> None:
    by_hand = json.loads(BY_HAND.read_text())["replies"]
    assert len(by_hand) == 300
    assert [(i, read(replies[i])) for i, _ in by_hand] == [(i, rating) for i, rating in by_hand]


def test_at_least_99_percent_of_every_judge_is_read(replies: list[dict[str, Any]]) -> None:
    unscored, count = defaultdict(int), defaultdict(int)
    for reply in replies:
        judge = f"{reply['evaluator']}/{reply['method']}"
        count[judge] += 1
        unscored[judge] += read(reply) is None
    assert {judge: unscored[judge] for judge in count} == UNSCORED
    assert all(unscored[judge] <= 0.01 * count[judge] for judge in count)


@pytest.mark.parametrize(
    ("aspect", "design"), [("coherence", 0.444), ("consistency", 0.557), ("fluency", 0.500), ("relevance", 0.422)]
)
def test_gpt_4_agrees_with_experts_as_another_parser_found(
    real_data: Path, replies: list[dict[str, Any]], aspect: str, design: float
) -> None:
    """The design notes give the global Spearman of GPT-4 (rts) by a simple parser."""
    with (real_data / "summeval" / "summeval_outputs_human_metrics.jsonl").open() as file:
        people = {(r["doc_id"], r["system"]): r["human_mean"][aspect] for r in map(json.loads, file)}
    mine = [r for r in replies if (r["evaluator"], r["method"], r["aspect"]) == ("gpt-4-0314", "rts", aspect)]
    pairs = [(value, people[r["id"], r["system"]]) for r in mine if (value := read(r)) is not None]
    assert spearmanr(*zip(*pairs, strict=True)).statistic == pytest.approx(design, abs=0.005)
