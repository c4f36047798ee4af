"""Outputs to read: their points, their texts, and words coloured by an alignment metric."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nlgauge.data.example import example
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.report.sections import Run, reading
from nlgauge.report.sections.reading import disagree, points_of
from nlgauge.session import Selection


@pytest.fixture
def run() -> Run:
    data = example()
    return Run(Selection(data))


def test_every_rated_output_is_a_point_with_its_scores_and_texts(run: Run) -> None:
    points, left = points_of(run)
    panel, data = run.data.panel(), run.data
    assert left == 0
    assert len(points["s"]) == int(np.isfinite(panel.human).sum())
    texts = {(r["system"], r["input"]): r for r in data.samples.iter_rows(named=True)}
    for at in (0, 17, 100):
        system, given = points["systems"][points["s"][at]], points["inputs"][points["i"][at]]
        kept = {name: t["texts"][t["at"][at]] for name, t in points["texts"].items()}
        assert kept["output"] == texts[system, given]["output"]
        assert kept["reference"] == texts[system, given]["references"][0][:750]
        score = panel.metrics["char3_f1"][panel.systems.index(system), panel.inputs.index(given)]
        assert points["metrics"]["char3_f1"][at] == pytest.approx(score, rel=1e-4)
    assert len(points["texts"]["source"]["texts"]) == 24  # once an input, not once an output


def test_many_points_are_drawn_at_random_and_counted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_POINTS", 50)
    points, left = points_of(run)
    assert (len(points["s"]), left) == (50, 142)
    assert points == points_of(run)[0]


def test_without_the_extra_a_line_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = disagree(run)
    assert any('pip install "nlgauge[neural]"' in line for line in found.lines)
    assert not any(card.words for card in found.cards)


def test_words_of_the_shown_outputs_get_their_own_scores(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(batch: Any) -> Any:
        def aligned(text: str) -> Alignment:
            first = len(text.split(maxsplit=1)[0])
            return Alignment(text, np.array([[0, first]], np.int32), np.array([len(text) / 1000]))

        return None, [[{("y", ("x",)): aligned(text)}] for text in (batch.texts.list()[k] for k in batch.output)]

    stub = SimpleNamespace(explain=explain, ready=lambda: None, facts=SimpleNamespace(needs=frozenset({"source"})))
    monkeypatch.setattr(reading, "known_metric", lambda name: stub if name == "ctc" else None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    found = disagree(run)
    assert any(line.startswith("Words of the outputs are coloured by ctc") for line in found.lines)
    for card in found.cards:
        output = dict(card.texts)["Output"]
        assert "".join(piece for piece, _ in card.words) == output
        assert card.words[0][1] == pytest.approx(len(output) / 1000)


def test_quick_leaves_the_colours_out_and_says_so(run: Run) -> None:
    run.quick = True
    assert any("--quick" in line for line in disagree(run).lines)
