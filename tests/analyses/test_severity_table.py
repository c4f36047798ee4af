"""The table of severity: a planted judge and a planted group difference are found, clean ones are not accused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nlgauge as ng


def rated(seed: int, lenient: float = 0.0, on_german: float = 0.0) -> ng.Dataset:
    """Three annotators and two judges on 200 outputs in two languages; the first judge has planted deviations."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for i in range(200):
        quality, german = rng.normal(3, 1), i % 2 == 1
        row = {"input": f"i{i}", "output": f"o{i}", "language": "de" if german else "en", "length": rng.random()}
        shifted = quality + lenient + on_german * german
        judges = {"gpt_judge": shifted, "llama_judge": quality}
        row |= {name: float(np.clip(round(value + rng.normal(0, 0.6)), 1, 5)) for name, value in judges.items()}
        for annotator in ("ann", "bob", "cyd"):
            rating = float(np.clip(round(quality + rng.normal(0, 0.6)), 1, 5))
            rows.append({**row, "annotator": annotator, "quality": rating})
    return ng.load(rows, human="quality", metrics=["gpt_judge", "llama_judge", "length"])


def test_a_lenient_judge_is_named_and_its_value_is_in_rating_points() -> None:
    table = ng.analyze("severity", rated(1, lenient=0.5))
    rows = {row["metric"]: row for row in table}
    assert set(rows) == {"ann", "bob", "cyd", "gpt_judge", "llama_judge"}
    assert rows["gpt_judge"]["low"] > 0.2 and rows["gpt_judge"]["value"] == pytest.approx(0.43, abs=0.15)
    assert table.answers == [
        "Significantly different from the mean of the annotators: more lenient: gpt_judge "
        f"({rows['gpt_judge']['value']:+.2f})."
    ]
    assert any("length: not on the scale of the annotators" in note for note in table.notes)


def test_clean_raters_are_accused_in_few_data_sets() -> None:
    tables = [ng.analyze("severity", rated(seed)) for seed in range(100, 120)]
    assert sum(any(row["p_corrected"] < 0.05 for row in table) for table in tables) <= 4  # p < .003 at a rate of 0.05


def test_a_judge_that_is_lenient_on_one_language_only_is_found() -> None:
    table = ng.analyze("severity", rated(2, on_german=0.9), group="language")
    clear = {(row["metric"], row["group"]) for row in table if row["p_corrected"] < 0.05}
    assert clear == {("gpt_judge", "de"), ("gpt_judge", "en")}
    assert table.answers[0].startswith("The leniency depends on `language`: gpt_judge on de (+0.")
    assert ng.analyze("severity", rated(3), group="language").answers == [
        "No leniency is shown to depend on `language`."
    ]
