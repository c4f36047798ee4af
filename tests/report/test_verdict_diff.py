"""Two runs of a judge that says pass or fail, compared on the rows that people labelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import nlgauge as ng
from command import run_command
from nlgauge.analyses.comparing.changes import FAIL, INCONCLUSIVE, PASS, compare_results, verdict_words
from nlgauge.datasets.results import write_results
from nlgauge.report.results import results_of, verdicts_of
from nlgauge.report.sections import ReportContext
from nlgauge.session import Session

ROWS = 80


def table(judge: Any, people: Any, systems: int = 1) -> ng.Dataset:
    rows = [
        {"system": f"s{s}", "id": f"q{i}", "judge": j, "human_label": p}
        for k, (j, p) in enumerate(zip(judge, people, strict=True))
        for i, s in [divmod(k, systems)]
    ]
    return ng.load(pl.DataFrame(rows, strict=False), metrics="judge", human={"label": "human_label"})


def written(path: Path, data: ng.Dataset) -> Path:
    return write_results(path, results_of(ReportContext(Session(data)), []))


def compared(tmp_path: Path, old: ng.Dataset, new: ng.Dataset, **options: Any) -> Any:
    return compare_results(written(tmp_path / "old.json", old), written(tmp_path / "new.json", new), **options)


@pytest.fixture
def people() -> list[int | None]:
    found: list[int | None] = np.random.default_rng(0).integers(0, 2, ROWS).tolist()
    return [v if i % 4 else None for i, v in enumerate(found)]


def judge(people: list[int | None], share: float, seed: int) -> list[int]:
    rng = np.random.default_rng(seed)
    return [int(p if p is not None and rng.random() < share else rng.integers(2)) for p in people]


def test_results_hold_the_verdicts_of_labelled_rows_only(people: list[int | None]) -> None:
    data = table(judge(people, 0.8, 1), people)
    found = verdicts_of(ReportContext(Session(data)))["label"]
    assert [r[1] for r in found["rows"]] == [f"q{i}" for i, p in enumerate(people) if p is not None]
    assert found["human"] == [p for p in people if p is not None]
    assert found["judges"]["judge"] == [j for j, p in zip(judge(people, 0.8, 1), people, strict=True) if p is not None]


def test_p_is_mcnemars_mid_p_on_the_rows_that_changed(tmp_path: Path, people: list[int | None]) -> None:
    before, after = judge(people, 0.9, 1), judge(people, 0.5, 2)
    row = compared(tmp_path, table(before, people), table(after, people)).rows[0]
    labelled = [i for i, p in enumerate(people) if p is not None]
    worse = sum(before[i] == people[i] != after[i] for i in labelled)
    better = sum(after[i] == people[i] != before[i] for i in labelled)
    n, least = worse + better, min(worse, better)
    expected = min(1, 2 * (binom.cdf(least, n, 0.5) - binom.pmf(least, n, 0.5) / 2))
    assert (row["worse"], row["better"], row["inputs"]) == (worse, better, len(labelled))
    assert row["p"] == pytest.approx(expected, abs=1e-12)
    assert row["change"] == pytest.approx((better - worse) / len(labelled), abs=1e-12)


def test_a_judge_replaced_by_a_coin_fails_and_says_so_in_words(tmp_path: Path, people: list[int | None]) -> None:
    result = compared(tmp_path, table(judge(people, 1, 1), people), table(judge(people, 0, 2), people), fail_drop=0.02)
    code, words = verdict_words(result, 0.02)
    assert code == FAIL and "judge on label" in words
    assert "accuracy 50%" in result.notes[0] and "before 100%" in result.notes[0]


def test_the_same_judge_passes(tmp_path: Path, people: list[int | None]) -> None:
    data = table(judge(people, 0.8, 1), people)
    assert verdict_words(compared(tmp_path, data, data), 0.02)[0] == PASS


def test_a_judge_that_always_passes_is_compared_too(tmp_path: Path, people: list[int | None]) -> None:
    result = compared(tmp_path, table(judge(people, 1, 1), people), table([1] * ROWS, people))
    assert result.rows[0]["fails"] and result.rows[0]["new"] == np.mean([p for p in people if p is not None])


def test_rows_with_another_label_are_left_out_and_counted(tmp_path: Path, people: list[int | None]) -> None:
    said = judge(people, 0.8, 1)
    other = [1 - people[1]] if people[1] is not None else []
    relabelled = [people[0], *other, *people[2:]]
    result = compared(tmp_path, table(said, people), table(said, relabelled))
    assert result.rows[0]["inputs"] == sum(p is not None for p in people) - 1
    assert "1 outputs whose human label changed are excluded" in result.notes[0]


def test_few_labels_or_lost_verdicts_are_no_pass(tmp_path: Path, people: list[int | None]) -> None:
    few = [1, 0, 1, *[None] * (ROWS - 3)]
    said = judge(people, 0.8, 1)
    code, words = verdict_words(compared(tmp_path, table(said, few), table(said, few)), 0.02)
    assert code == INCONCLUSIVE and "3 labeled outputs" in words
    silent: list[int | None] = [v if i % 2 else None for i, v in enumerate(said)]
    code, words = verdict_words(compared(tmp_path, table(said, people), table(silent, people)), 0.02)
    assert code == INCONCLUSIVE and "lost their value" in words


def test_rows_of_one_input_count_together(tmp_path: Path, people: list[int | None]) -> None:
    before, after = judge(people, 0.9, 1), judge(people, 0.3, 2)
    alone = compared(tmp_path, table(before, people), table(after, people)).rows[0]
    together = compared(tmp_path, table(before, people, 4), table(after, people, 4)).rows[0]
    assert together["change"] == alone["change"]
    assert together["measure"] == "agreement" and together["p"] != alone["p"]
    assert together["least_p"] > alone["least_p"]


def test_verdicts_before_and_numbers_now_cannot_be_told(tmp_path: Path, people: list[int | None]) -> None:
    scores = np.random.default_rng(3).random(ROWS).tolist()
    code, words = verdict_words(compared(tmp_path, table(judge(people, 0.8, 1), people), table(scores, people)), 0.02)
    assert code == INCONCLUSIVE
    assert "requires several systems" in words and "verdicts" in words


def test_the_command_ends_with_the_documented_codes(tmp_path: Path, people: list[int | None]) -> None:
    good = written(tmp_path / "good.json", table(judge(people, 1, 1), people))
    coin = written(tmp_path / "coin.json", table(judge(people, 0, 2), people))
    numbers = written(tmp_path / "numbers.json", table(np.linspace(0, 1, ROWS).tolist(), people))
    for old, new, code in ((good, good, 0), (good, coin, 1), (good, numbers, 3)):
        done = run_command("gate", new, "--against", old)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr


def test_trials_of_one_input_are_one_unit(tmp_path: Path, people: list[int | None]) -> None:
    """Three equal trials of each input lower no p-value, and their single flips are no independent evidence."""
    before, after = judge(people, 0.9, 1), judge(people, 0.6, 2)

    def trials(verdicts: list[int]) -> ng.Dataset:
        rows = [
            {"id": f"q{i}", "trial": t, "judge": j, "human_label": p}
            for i, (j, p) in enumerate(zip(verdicts, people, strict=True))
            for t in range(3)
        ]
        return ng.load(pl.DataFrame(rows, strict=False), metrics="judge", human={"label": "human_label"})

    (once,) = compared(tmp_path, table(before, people), table(after, people))
    (many,) = compared(tmp_path, trials(before), trials(after))
    assert (many["inputs"], many["change"]) == (3 * once["inputs"], pytest.approx(once["change"]))
    assert many["p"] == pytest.approx(once["p"], abs=0.05) and many["least_p"] >= 1 / 10_000
