"""Fewer bits: close to float32 by a stated tolerance, and the same bits whatever stands beside a text."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.models.encoder import Encoder, encoder
from nlgauge.models.loading import fingerprint
from nlgauge.models.precision import split_precision
from nlgauge.scoring.cached_runner import CachedRunner
from nlgauge.scoring.score_batch import by_source, score_batch
from nlgauge.scoring.store import Store

TEXTS = [
    "The council opened the new bridge on Monday, after two years of work and 3.5 million euros.",
    "Tea?",
    "A cat sat on the mat while the dog ran through the park, and nobody in the village seemed to mind at all. " * 4,
    "Prices rose by 4 percent in March.",
    "Prices fell by 4 percent in April.",
    *("A cat sat on a mat and saw a dog that ran by. " * n for n in range(1, 9)),
]
SOURCE = (
    "The council opened the new bridge on Monday. It took two years to build. The work cost 3.5 million euros. "
    "Residents had asked for a bridge since 1998. A ferry had carried them across the river until now."
)
BATCH = Batch.from_columns(
    ["The new bridge was opened on Monday. It cost 3.5 million euros.", "A ferry sank on Tuesday.", "It took years."],
    [SOURCE] * 3,
    None,
    [["The council opened a bridge.", "The bridge cost 3.5 million."]] * 3,
)
SPECS = [
    "bertscore",
    "ctc(aspect='consistency')",
    "ctc(aspect='relevance')",
    "ctc(aspect='consistency', align='D')",
    "ctc(aspect='relevance', align='D')",
]
# Lowest cosine of a token at layer 5 with its float32 vector, and largest difference of a metric's value.
TOLERANCE = {"int8": (0.985, 0.03), "bf16": (0.9995, 0.003)}


def at(spec: str, precision: str) -> str:
    name, _, options = spec.rstrip(")").partition("(")
    return f"{name}({options + ', ' if options else ''}encoder='minilm@{precision}')"


@pytest.mark.parametrize("precision", TOLERANCE)
def test_vectors_are_close_to_those_of_float32(precision: str, minilm: Encoder) -> None:
    least = TOLERANCE[precision][0]
    for full, low in zip(minilm.encode(TEXTS, [5]), encoder(f"minilm@{precision}").encode(TEXTS, [5]), strict=True):
        assert (full[5].unit * low[5].unit).sum(axis=1).min() > least
        assert not np.array_equal(full[5].unit, low[5].unit)


@pytest.mark.parametrize("name", ["minilm", "minilm@int8", "minilm@bf16"])
def test_a_text_has_the_same_bits_alone_among_others_and_on_any_number_of_threads(
    name: str, minilm: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = encoder(name)
    alone = [low.encode([text], [6])[0][6].unit for text in TEXTS]
    for workers in ("1", "2", "8"):
        monkeypatch.setenv("NLGAUGE_THREADS", workers)
        for one, found in zip(alone, low.encode(TEXTS, [2, 6]), strict=True):
            np.testing.assert_array_equal(found[6].unit, one)


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("spec", SPECS)
def test_values_are_close_to_those_of_float32(spec: str, precision: str, minilm: Encoder) -> None:
    full, low = (metric_from_spec(s).score(BATCH).values for s in (spec, at(spec, precision)))
    np.testing.assert_allclose(low, full, atol=TOLERANCE[precision][1])


def test_the_precision_stands_in_name_and_signature(minilm: Encoder) -> None:
    metric = metric_from_spec(at("bertscore", "int8"))
    assert str(metric) == "bertscore(encoder='minilm@int8')"
    assert f"encoder:{fingerprint('minilm')}+int8|" in metric.signature
    assert metric_from_spec("ctc(encoder='minilm@int8')").settings() == metric_from_spec("ctc").settings()  # type: ignore[attr-defined]


def test_an_at_sign_in_a_folder_is_no_precision() -> None:
    assert split_precision("models/bert@v2") == ("models/bert@v2", "")
    with pytest.raises(NlgaugeError, match="no such folder"):
        metric_from_spec("bertscore(encoder='./nowhere@int8')").ready()


def scored(specs: Sequence[str], tmp_path: Path, workers: int, name: str) -> dict[str, Any]:
    metrics = [metric_from_spec(s) for s in specs]
    return score_batch(BATCH, metrics, workers=workers, engine=CachedRunner(Store(tmp_path / name)))


def test_each_text_goes_through_the_encoder_once_and_no_deeper_than_needed(
    minilm: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: Counter[str] = Counter()
    deepest: dict[str, int] = {}
    encode = Encoder.encode

    def counting(self: Encoder, texts: Sequence[str], layers: Sequence[int], *more: Any) -> Any:
        seen.update(texts)
        deepest.update(dict.fromkeys(texts, max(layers)))
        return encode(self, texts, layers, *more)

    monkeypatch.setattr(Encoder, "encode", counting)
    monkeypatch.setattr("nlgauge.scoring.score_batch.MAX_TEXT", 1)
    fresh = Batch.from_columns(
        [BATCH.text(i) for i in BATCH.output.tolist()], [SOURCE] * 3, None, [["The council opened a bridge."]] * 3
    )
    score_batch(fresh, [metric_from_spec(s) for s in SPECS], engine=CachedRunner(Store(tmp_path / "s.sqlite")))
    assert set(seen.values()) == {1}
    assert deepest["It cost 3.5 million euros."] == 2  # a sentence that only consistency reads, at its layer
    assert deepest["A ferry sank on Tuesday."] == 6


def test_values_are_the_same_on_one_two_and_eight_workers(
    minilm: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for workers in (1, 2, 8):
        monkeypatch.setenv("NLGAUGE_THREADS", str(workers))
        given = scored([*SPECS, at("bertscore", "int8")], tmp_path, workers, f"{workers}.sqlite")
        found.append(np.stack([c.values for c in given.values()]))
    assert os.environ["NLGAUGE_THREADS"] == "8"
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_parts_hold_every_sample_once_and_keep_a_source_together() -> None:
    given = Batch.from_columns([f"out {i}" for i in range(12)], [f"source {i % 4}" for i in range(12)])
    parts = by_source(given, most=30)
    assert sorted(i for part in parts for i in part.tolist()) == list(range(12)) and len(parts) > 2
    assert sum(len(set((part % 4).tolist())) for part in parts) <= 4 + len(parts) - 1  # a cut parts one source
