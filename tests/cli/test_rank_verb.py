"""`nlgauge rank` and `nlgauge run` on files of votes in the layouts that people have."""

from __future__ import annotations

import csv
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from command import run_command

CONVERSATION = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}]


def typed(*args: object) -> subprocess.CompletedProcess[str]:
    return run_command(*args, COLUMNS="250")


def votes() -> list[tuple[str, str, str, int]]:
    rng = random.Random(0)
    strength, rows = {"alpha": 1.0, "beta": 0.0, "gamma": -1.0}, []
    for k in range(240):
        a, b = rng.sample(list(strength), 2)
        won = rng.choices([0, 1, 2], [2 ** (strength[a] - strength[b]), 2 ** (strength[b] - strength[a]), 0.5])[0]
        rows.append((f"q{k % 80}", a, b, won))
    return rows


LAYOUTS = {
    "arena": lambda q, a, b, w: {
        "question_id": q,
        "model_a": a,
        "model_b": b,
        "winner": ("model_a", "model_b", "tie (bothbad)")[w],
        "conversation_a": CONVERSATION,
        "conversation_b": CONVERSATION,
    },
    "conv": lambda q, a, b, w: {
        "id": q,
        "model_a": a,
        "model_b": b,
        "winner": ("model_a", "model_b", "tie")[w],
        "conv_a": CONVERSATION,
        "conv_b": CONVERSATION,
    },
    "judge": lambda q, a, b, w: {
        "question_id": q,
        "model_a": a,
        "model_b": b,
        "human_winner": ("model_a", "model_b", "tie")[w],
        "gpt4_winner": "model_a" if w else "model_b",
    },
    "named": lambda q, a, b, w: {"prompt": q, "model_1": a, "model_2": b, "winner": (a, b, "tie")[w]},
    "bare": lambda q, a, b, w: {"model_a": a, "model_b": b, "winner": "ab"[w] if w < 2 else "tie"},
    "lost": lambda q, a, b, w: {"prompt": q, "winner": b if w == 1 else a, "loser": a if w == 1 else b},
    "scale": lambda q, a, b, w: {"item": q, "system_a": a, "system_b": b, "overall": (-2, 1, 0)[w]},
}


def written(folder: Path, layout: str, kind: str) -> Path:
    rows: list[dict[str, Any]] = [LAYOUTS[layout](*vote) for vote in votes()]
    path = folder / f"votes.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    "layout, kind",
    [
        ("arena", "jsonl"),
        ("conv", "jsonl"),
        ("judge", "jsonl"),
        ("judge", "csv"),
        ("named", "csv"),
        ("bare", "csv"),
        ("lost", "csv"),
        ("scale", "csv"),
        ("scale", "jsonl"),
    ],
)
def test_votes_of_every_layout_are_ranked(tmp_path, layout, kind):
    data = ng.load(written(tmp_path, layout, kind), **({"votes": "negative=first"} if layout == "scale" else {}))
    assert [row["system"] for row in ng.rank(data) if row["side"] == "Human"] == ["alpha", "beta", "gamma"]


def test_run_answers_from_votes_alone(tmp_path):
    out = typed("run", written(tmp_path, "judge", "jsonl"), "-o", tmp_path / "page.html")
    assert out.returncode == 0, out.stderr
    assert (
        "Human votes: alpha is significantly better than the other 2 systems; 3 of 3 pairs differ significantly, in 3 tiers."
        in out.stdout
    )
    assert "By gpt4 " in out.stdout
    page = (tmp_path / "page.html").read_text()
    assert "System ranking from pairwise comparisons" in page
    results = json.loads((tmp_path / "page.results.json").read_text())
    assert [s["key"] for s in results["sections"]] == ["rank", "evaluated", "wins", "made"]
    assert not any(s["missing"] for s in results["sections"])


def test_a_scale_asks_which_side_its_negative_numbers_prefer(tmp_path):
    out = typed("analyze", "rank", written(tmp_path, "scale", "csv"))
    assert out.returncode == 2
    assert "Declare which output negative numbers prefer with --columns" in out.stderr
    assert out.stderr.count("\n") <= 2


def test_the_other_side_of_a_scale_turns_the_ranking_round(tmp_path):
    out = typed(
        "analyze",
        "rank",
        written(tmp_path, "scale", "csv"),
        "-f",
        "json",
        "--columns",
        "reader=pairwise(votes='negative=second')",
    )
    assert [r["system"] for r in json.loads(out.stdout)["tables"][0]["rows"]] == ["gamma", "beta", "alpha"]


def test_the_table_stands_beside_the_matrix_of_wins_and_the_pairs(tmp_path):
    out = typed(
        "analyze",
        "rank",
        written(tmp_path, "judge", "jsonl"),
        "--ties",
        "rao-kupper",
        "--interval",
        "bootstrap",
        "-f",
        "json",
    )
    kinds = [t["analysis"] for t in json.loads(out.stdout)["tables"]]
    assert kinds == ["rank", "rank-effects", "rank-sides", "wins"]


def test_a_wrong_word_is_answered_with_the_right_ones(tmp_path):
    out = typed("analyze", "rank", written(tmp_path, "bare", "csv"), "--ties", "bt")
    assert (out.returncode, out.stderr.splitlines()[-1]) == (
        2,
        "nlgauge: --ties 'bt': use davidson, rao-kupper, half or drop.",
    )


def test_ratings_alone_are_told_what_a_ranking_needs():
    out = typed("analyze", "rank", "example")
    assert out.returncode == 2 and "there are no pairwise comparisons" in out.stderr
