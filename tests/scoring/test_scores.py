from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, Metric, Scores
from nlgauge.metrics.surface.counts import Len
from nlgauge.scoring import run, score


def test_columns_are_named_by_their_specs_and_lower_is_the_metrics_own(
    small: Dataset, test_metrics: dict[str, Any]
) -> None:
    scored = score(small, ["test-words(times=3)", test_metrics["test-share"]()])
    assert scored.metrics == ["test-words(times=3)", "test-share"]
    assert scored.lower == {"test-words(times=3)"}
    assert scored.scores["test-words(times=3)"].to_list() == [12, 3, 6, None, 0, 6]
    assert scored.scores["test-share"].to_list() == [0.5, 1.0, None, None, 0.0, 0.5]


def test_every_missing_value_has_its_reason_and_no_other_has_one(small: Dataset) -> None:
    failures = score(small, ["test-words", "test-share"]).failures
    assert failures.rows() == [
        ("B", "1", "test-words", "no output"),
        ("A", "3", "test-share", "no reference"),
        ("B", "1", "test-share", "no output"),
    ]


def test_scoring_again_replaces_values_and_failures_and_keeps_the_rest(small: Dataset) -> None:
    once = score(small.with_scores({"old": [1.0] * 6}), ["test-words"])
    twice = score(once, ["test-words"])
    assert twice.metrics == ["old", "test-words"]
    assert twice.failures.height == once.failures.height == 1
    assert any("replaced: test-words" in note for note in twice.notes)


def test_each_distinct_text_is_encoded_once_for_all_metrics_and_parts(
    test_metrics: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_metrics["test-words"], "seen", 0)
    data = _numbered(5000)
    score(data, ["test-words", "test-words(times=2)"], workers=4)
    distinct = {*data.samples["output"].drop_nulls(), "w"}  # "w" is the reference
    assert test_metrics["test-words"].seen == len(distinct)


@pytest.mark.parametrize("workers", [1, 3, 16])
def test_values_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    data = _numbered(4321)
    asked = ["test-words", "test-share", "test-rank", "random", "len"]
    alone, many = score(data, asked, workers=1), score(data, asked, workers=workers)
    assert many.scores.equals(alone.scores)
    assert many.failures.equals(alone.failures)


def test_a_metric_that_depends_on_the_whole_run_sees_all_samples_at_once() -> None:
    data = _numbered(3000)
    scored = score(data, ["test-rank"], workers=4)
    assert set(scored.scores["test-rank"].drop_nulls()) == {float(data.samples["output"].count())}


def test_the_table_says_metric_mean_unscored_seconds_and_signature(small: Dataset) -> None:
    table = run(small, ["test-words", "test-share"]).table
    words, share = table.rows
    assert (words["mean"], words["scored"], words["unscored"], words["better"]) == (9 / 5, 5, 1, "lower")
    assert share["signature"] == "tok:space|version:test"
    assert words["signature"].startswith("version:nlgauge-")
    assert all(row["seconds"] >= 0 for row in table)
    assert "warning: 1 × empty output" in table.notes
    assert "test-share: 1 unscored (no reference)" in table.notes


def test_progress_counts_every_metric_on_every_part_up_to_the_end() -> None:
    heard: list[tuple[int, int, str]] = []
    score(_numbered(2500), ["test-words", "test-rank"], progress=lambda *said: heard.append(said), workers=2)
    assert [done for done, _, _ in heard] == list(range(1, len(heard) + 1))
    assert heard[-1][0] == heard[-1][1]
    assert {metric for _, _, metric in heard} == {"test-words", "test-rank"}


@dataclass(frozen=True)
class Broken(Metric):
    facts = Len.facts
    values: int = 0

    def score(self, batch: Batch) -> Scores:
        if self.values:
            return Scores(np.zeros(self.values))
        raise ZeroDivisionError("by nothing")

    def __str__(self) -> str:
        return "broken"


def test_a_metric_that_breaks_does_not_cost_the_others_their_work_and_its_crash_is_the_reason(small: Dataset) -> None:
    scored = run(small, ["test-words", Broken()])
    assert scored.data.scores["test-words"].null_count() == 1
    assert scored.data.scores["broken"].null_count() == 6
    assert "broken: 5 unscored (the metric failed: ZeroDivisionError: by nothing)" in scored.table.notes


def test_nothing_but_broken_metrics_is_an_error_in_one_line(small: Dataset) -> None:
    with pytest.raises(NlgaugeError, match="'broken': the metric failed: ZeroDivisionError: by nothing"):
        score(small, [Broken()])
    with pytest.raises(NlgaugeError, match="'broken' gave 2 values for 5 outputs"):
        score(small, [Broken(values=2)])


def test_an_engine_may_stand_between_metric_and_batch(small: Dataset) -> None:
    asked = []

    def engine(metric: object, batch: Batch) -> Scores:
        asked.append((str(metric), len(batch)))
        return Scores(np.ones(len(batch)))

    assert run(small, ["test-words"], engine=engine).data.scores["test-words"].to_list() == [1, 1, 1, None, 1, 1]
    assert asked == [("test-words", 5)]


def _numbered(n: int) -> Dataset:
    outputs = [None if i % 97 == 0 else "w " * (i % 50) for i in range(n)]
    columns = {"system": "S", "input": [str(i) for i in range(n)], "output": outputs, "references": [["w"]] * n}
    return Dataset.of("numbered", pl.DataFrame(columns))
