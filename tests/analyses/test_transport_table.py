"""Does the judge's error carry over? Verdicts of the audit on parts whose error is known."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import NlgaugeError


def parts(
    probe: int = 200, shift: float = 0.0, spread: float = 1.0, column: bool = False, rows: int = 600
) -> ng.Dataset:
    """300 labels of one part, `probe` of another whose judge is more lenient by `shift`; labels from 0 to 10."""
    rng = np.random.default_rng(0)
    made = []
    for name, labels, bias in (("en", 300, 0.0), ("de", probe, shift)):
        quality = 5 + (spread if name == "de" else 1.0) * rng.normal(size=rows)
        for k in range(rows):
            label = float(np.clip(quality[k] + 0.4 * rng.normal(), 0, 10))
            made.append(
                {
                    "system": "bot" if column else name,
                    "input": f"{name}{k}",
                    "language": name,
                    "judge": float(quality[k] + bias),
                    "score": round(label, 2) if k < labels else None,
                }
            )
    return ng.load(made, human=["score"], metrics=["judge"], name="log")


def test_the_same_error_transfers_and_the_carried_mean_holds_the_truth() -> None:
    (row,) = ng.analyze("transport", parts())
    assert (row["verdict"], row["part"], row["reference"]) == ("transfers", "de", "en")
    assert -0.1 < row["low"] < row["high"] < 0.1
    assert row["carried_low"] < 5 < row["carried_high"]


def test_a_more_lenient_judge_does_not_transfer_and_gives_no_mean() -> None:
    (row,) = ng.analyze("transport", parts(shift=1.0))
    assert row["verdict"] == "does not transfer"
    assert row["value"] == pytest.approx(1.0, abs=0.15)
    assert np.isnan(row["carried"])


def test_a_small_probe_is_undecided_and_says_what_would_decide() -> None:
    none, small = (ng.analyze("transport", parts(probe=n), margin=0.2) for n in (5, 25))
    assert none.rows[0]["verdict"] == small.rows[0]["verdict"] == "undecided"
    assert none.answers == [
        "de: the error of judge on 'en': undecided, 5 labels; label at least 20 outputs drawn at random."
    ]
    assert 25 < small.rows[0]["labels_needed"] < 600


def test_scores_beyond_the_labeled_ones_are_refused() -> None:
    (row,) = ng.analyze("transport", parts(spread=4.0), margin=2.0)
    assert row["verdict"] == "outside the calibrated range"
    assert row["beyond"] > 0.05 and np.isnan(row["carried"])


def test_parts_are_the_values_of_a_column() -> None:
    by_column = ng.analyze("transport", parts(column=True), by="language", reference="de")
    (row,) = by_column
    assert (row["part"], row["reference"], row["verdict"]) == ("en", "de", "transfers")


def test_one_part_or_an_unknown_reference_is_refused() -> None:
    with pytest.raises(NlgaugeError, match="one part only"):
        ng.analyze("transport", parts(column=True))
    with pytest.raises(NlgaugeError, match="part 'fr' not found"):
        ng.analyze("transport", parts(), reference="fr")
