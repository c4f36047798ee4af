"""SARI against the numbers that its authors and Hugging Face publish for their examples."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

SOURCE = "About 95 species are currently accepted ."
REFERENCES = [
    "About 95 species are currently known .",
    "About 95 species are now accepted .",
    "95 species are now accepted .",
]
OUTPUTS = ["About 95 you now get in .", "About 95 species are now agreed .", "About 95 species are currently agreed ."]


def values(spec: str, outputs: list[str], source: str = SOURCE, references: list[str] = REFERENCES) -> list[float]:
    n = len(outputs)
    return (
        metric_from_spec(spec)
        .score(Batch.from_columns(outputs, source=[source] * n, references=[references] * n))
        .values.tolist()
    )


def test_the_authors_examples() -> None:
    """The three values that SARI.py (Xu et al. 2016) prints."""
    wanted = [0.2682782411698074, 0.5889995423074248, 0.5071608864657479]
    assert values("sari(preset='original')", OUTPUTS) == pytest.approx([100 * v for v in wanted], abs=1e-9)


def test_hugging_faces_example() -> None:
    assert values("sari", OUTPUTS[:1]) == pytest.approx([26.953601953601954], abs=1e-9)


def test_the_reference_itself_is_perfect_by_the_fixed_rules_only() -> None:
    assert values("sari", ["a c"], "a b", ["a c"]) == pytest.approx([100])
    assert values("sari(preset='original')", ["a c"], "a b", ["a c"])[0] < 100


def test_what_is_missing_is_said() -> None:
    batch = Batch.from_columns(
        ["a", "a", None, ""], source=[None, "a", "a", "a b"], references=[["a"], None, ["a"], ["a"]]
    )
    scores = metric_from_spec("sari").score(batch)
    assert scores.reasons == {0: "no source", 1: "no reference", 2: "no output"}
    assert (np.isfinite(scores.values[3]), scores.notes) == (True, {3: "empty output"})


def test_another_preset_is_refused() -> None:
    with pytest.raises(NlgaugeError, match=r"fixed or original. Got 'new'"):
        metric_from_spec("sari(preset='new')")
