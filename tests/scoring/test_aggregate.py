import math

import pytest

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.scoring import aggregate, score


def cells(table, line: str) -> dict[tuple[str, str], float]:
    return {(row[line], row["column"]): row["value"] for row in table}


def test_mean_of_samples_and_corpus_value_stand_side_by_side_and_differ(small: Dataset) -> None:
    found = cells(aggregate(small, ["test-share"]), "system")
    assert found["A", "test-share (mean)"] == pytest.approx((0.5 + 1.0) / 2)
    assert found["A", "test-share (corpus)"] == pytest.approx((2 + 1) / (4 + 1))
    assert found["B", "test-share (mean)"] == pytest.approx((0.0 + 0.5) / 2)
    assert found["B", "test-share (corpus)"] == pytest.approx(1 / 2)


def test_unscored_samples_are_counted_per_line_and_lower_is_marked(small: Dataset) -> None:
    table = aggregate(small, ["test-words", "test-share"])
    header, body = table.grid()
    assert header == ["system", "test-words ↓", "test-share (corpus)", "test-share (mean)", "unscored"]
    assert [line[-1].text for line in body] == ["1", "2"]
    assert [cell.text for line in body for cell in line if cell.best] == ["0.600", "0.750", "1.000"]


def test_all_outputs_together_and_by_any_column(small: Dataset) -> None:
    whole = cells(aggregate(small, ["test-share"], by=None), "outputs")
    assert whole["all outputs", "test-share (corpus)"] == pytest.approx((2 + 1 + 0 + 1) / (4 + 1 + 0 + 2))
    kinds = cells(aggregate(small, ["test-share"], by="kind"), "kind")
    assert kinds["y", "test-share (corpus)"] == pytest.approx(1 / 2)
    with pytest.raises(NameUnknown, match=r"no column 'knd'\. Did you mean 'kind'"):
        aggregate(small, ["test-share"], by="knd")


def test_known_scores_are_not_computed_again_and_foreign_columns_have_a_mean_only(small: Dataset) -> None:
    data = score(small, ["test-words"]).with_scores({"theirs": [1.0, 2.0, 3.0, None, 5.0, 6.0]})
    found = cells(aggregate(data), "system")
    assert found["A", "theirs"] == 2.0
    assert found["B", "theirs"] == 5.5
    assert ("A", "theirs (corpus)") not in found
    changed = data.with_scores({"test-words": [7.0] * 6})
    assert cells(aggregate(changed, ["test-words"]), "system")["A", "test-words"] == 7.0


def test_a_group_without_any_value_is_missing_not_zero(small: Dataset) -> None:
    only = small.where(small.samples.filter(small.samples["input"].is_in(["1"])))
    table = aggregate(only, ["test-share"])
    found = cells(table, "system")
    assert math.isnan(found["B", "test-share (mean)"])
    assert math.isnan(found["B", "test-share (corpus)"])


def test_nothing_to_aggregate_is_an_error(small: Dataset) -> None:
    with pytest.raises(NlgaugeError, match="no scores to aggregate"):
        aggregate(small)
