"""Two runs of a judge that gives numbers to one system are compared row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import nlgauge as ng
from nlgauge.analyses.comparing.changes import compare_results, verdict_words
from nlgauge.table import Table

LABELS = np.clip(np.random.default_rng(3).normal(3.2, 1, 120).round(), 1, 5)


def judged(noise: float, seed: int = 1) -> np.ndarray:
    return np.clip((LABELS + np.random.default_rng(seed).normal(0, noise, 120)).round(), 1, 5)


def results(folder: Path, name: str, scores: np.ndarray) -> Path:
    frame = pl.DataFrame({"id": range(120), "judge_score": scores, "human_score": LABELS})
    return Path(ng.report(frame, out=folder / f"{name}.html", quick=True).results)


def diff(folder: Path, old: np.ndarray, new: np.ndarray) -> Table:
    return compare_results(results(folder, "old", old), results(folder, "new", new))


def test_the_values_are_scipys_and_the_better_run_rose(tmp_path: Path) -> None:
    old, new = judged(1.5), judged(0.4)
    (row,) = diff(tmp_path, old, new)
    assert row["old"] == pytest.approx(stats.pearsonr(old, LABELS)[0])
    assert row["new"] == pytest.approx(stats.pearsonr(new, LABELS)[0])
    assert (row["inputs"], row["verdict"], row["measure"]) == (120, "rose", "global/pearson")


def test_a_worse_judge_fails_and_noise_alone_does_not(tmp_path: Path) -> None:
    dropped = diff(tmp_path, judged(0.4), judged(2.5))
    assert dropped.rows[0]["fails"] and verdict_words(dropped, 0.0)[0] == 1
    alike = diff(tmp_path, judged(0.8), judged(0.8, seed=2))
    assert not alike.rows[0]["fails"] and verdict_words(alike, 0.0)[0] == 0


def test_the_p_value_is_that_of_swaps_drawn_with_numpy(tmp_path: Path) -> None:
    old, new = judged(1.0), judged(0.7, seed=5)
    (row,) = diff(tmp_path, old, new)
    x = np.stack([stats.zscore(old), stats.zscore(new)])
    rng, count, draws = np.random.default_rng(0), 0, 4000
    for _ in range(draws):
        swap = rng.integers(0, 2, 120).astype(bool)
        a, b = np.where(swap, x[::-1], x)
        count += abs(np.corrcoef(b, LABELS)[0, 1] - np.corrcoef(a, LABELS)[0, 1]) >= abs(row["change"])
    assert row["p"] == pytest.approx((count + 1) / (draws + 1), abs=0.03)


def test_a_judge_that_says_the_same_everywhere_fails(tmp_path: Path) -> None:
    table = diff(tmp_path, judged(0.4), np.full(120, 3.0))
    assert table.rows[0]["verdict"] == "no values" and table.rows[0]["fails"]


def test_rows_that_people_rate_otherwise_now_are_left_out(tmp_path: Path) -> None:
    old = results(tmp_path, "old", judged(0.5))
    frame = pl.DataFrame(
        {"id": range(120), "judge_score": judged(0.5), "human_score": [*(6 - LABELS[:10]), *LABELS[10:]]}
    )
    table = compare_results(old, ng.report(frame, out=tmp_path / "new.html", quick=True).results)
    changed = int((LABELS[:10] != 3).sum())
    assert table.rows[0]["inputs"] == 120 - changed
    assert any(f"{changed} outputs whose human rating changed" in note for note in table.notes)


def test_trials_of_one_input_are_one_unit(tmp_path: Path) -> None:
    """Four equal trials of each input tell no more than one: the p-value is that of the inputs."""
    old, new = judged(1.0), judged(0.7, seed=5)
    (once,) = diff(tmp_path, old, new)
    made = []
    for name, scores in (("many", old), ("again", new)):
        rows = [
            {"id": i, "trial": t, "judge_score": scores[i], "human_score": LABELS[i]}
            for i in range(120)
            for t in range(4)
        ]
        made.append(ng.report(pl.DataFrame(rows), out=tmp_path / f"{name}.html", quick=True).results)
    table = compare_results(*made)
    (many,) = table
    assert (many["old"], many["new"]) == pytest.approx((once["old"], once["new"]))
    assert many["p"] == pytest.approx(once["p"], abs=0.02) and many["least_p"] == once["least_p"]
    assert any("480 rows belong to 120 inputs" in note for note in table.notes)
    shift = {r["measure"]: r["inputs"] for r in ng.analyze("drift", [made[0], made[1]])}
    assert shift["judge_shift"] == 120
