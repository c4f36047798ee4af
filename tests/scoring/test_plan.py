from typing import Any

import pytest

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.scoring import score
from nlgauge.scoring.plan import plan, suggested


def test_all_unknown_names_are_reported_at_once_each_with_its_nearest(small: Dataset) -> None:
    with pytest.raises(NameUnknown) as error:
        plan(small, ["test-wrds", "test-words", "test-shar"])
    said = str(error.value)
    assert "no metric 'test-wrds'. Did you mean 'test-words'" in said
    assert "no metric 'test-shar'. Did you mean 'test-share'" in said
    assert said.count("nlgauge list metrics") == 1


def test_a_metric_whose_needs_the_data_do_not_meet_is_refused_by_name_with_the_columns_there_are(
    small: Dataset,
) -> None:
    with pytest.raises(NeedsMissing) as error:
        plan(small, ["test-words", "test-source", "test-share"])
    assert str(error.value) == (
        "'test-source' needs sources, which small.csv does not have (columns: system, input, output, references, "
        "kind). source= says which column holds them."
    )


def test_a_column_of_empty_lists_is_no_references(small: Dataset) -> None:
    bare = Dataset.of("bare.csv", small.samples.filter(small.samples["input"] == "3").head(1))
    with pytest.raises(NeedsMissing, match="'test-share' needs references"):
        plan(bare, ["test-share"])


def test_the_refusal_comes_before_any_metric_runs(
    small: Dataset, test_metrics: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(test_metrics["test-words"], "score", lambda self, batch: pytest.fail("work was started"))
    with pytest.raises(NeedsMissing):
        score(small, ["test-words", "test-source"])


def test_a_missing_installation_is_said_before_any_metric_runs(small: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from nlgauge.metrics.surface import spelling

    spelling.dictionary.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[readability\]"'):
        plan(small, ["test-words", "msp"])


def test_the_same_metric_twice_is_run_once_and_options_make_another(small: Dataset) -> None:
    asked = ["test-words", "test-words()", "test-words(times=1)", "test-words(times=2)"]
    assert [str(m) for m in plan(small, asked)] == ["test-words", "test-words(times=2)"]


def test_no_metrics_at_all_is_an_error(small: Dataset) -> None:
    with pytest.raises(NlgaugeError, match="nlgauge list metrics"):
        plan(small, [])


def test_suggested_metrics_need_only_what_the_data_have_and_no_extra(small: Dataset) -> None:
    found = suggested(small)
    assert {"test-words", "test-share", "len", "flesch"} <= {str(m) for m in found}
    assert all(not m.facts.extra and not m.facts.weights and m.facts.family != "control" for m in found)
    assert all(m.facts.needs <= {"output", "references"} for m in found)


def test_a_plain_function_is_a_metric() -> None:
    def shared(output: str, reference: str) -> float | None:
        """Share of the words of the reference that the output has."""
        words = set(reference.split())
        return len(words & set(output.split())) / len(words) if len(words) > 1 else None

    scored = ng.score(["the cat sat", "a b", "x"], [shared, "len"], ref=[["the dog", "the cat"], ["one"], ["  "]])
    assert scored.scores["shared"].to_list() == [1.0, None, None]
    reasons = {row["input"]: row["reason"] for row in scored.failures.to_dicts() if row["metric"] == "shared"}
    assert reasons == {"2": "the function returned no number", "3": "empty reference"}


def test_what_is_no_metric_is_refused_in_one_line() -> None:
    with pytest.raises(NlgaugeError, match="expected a Metric, a metric name or a callable; got 3"):
        ng.score(["a"], [3])
    with pytest.raises(NlgaugeError, match=r"must be output, reference, references, .*; got x"):
        ng.score(["a"], [lambda x: 1.0])
