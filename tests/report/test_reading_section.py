"""Outputs to read: their points, their texts, and words coloured by spelling or by an alignment metric."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nlgauge.data.example import example
from nlgauge.data.load import load
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.report.sections import Run, reading
from nlgauge.report.sections.reading import disagree, points_of, spelled_words
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


def alignment(monkeypatch: pytest.MonkeyPatch, explain: Any = None) -> None:
    """As if unigram_f1 were an alignment metric."""
    stub = SimpleNamespace(explain=explain, ready=lambda: None, facts=SimpleNamespace(needs=frozenset({"source"})))
    monkeypatch.setattr(reading, "known_metric", lambda name: stub if name == "unigram_f1" else None)
    monkeypatch.setattr(reading, "_ours", lambda metric: metric is stub)


def test_without_scores_of_an_alignment_metric_words_are_looked_up_in_the_source_and_no_model_is_loaded() -> None:
    code = (
        "import sys; from nlgauge.data.example import example; from nlgauge.session import Selection\n"
        "from nlgauge.report.sections import Run; from nlgauge.report.sections.reading import disagree\n"
        "found = disagree(Run(Selection(example())))\n"
        "print(found.lines[0]); print(all(card.words for card in found.cards), 'torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert (
        "do not stand in their source" in said[0] and "by spelling alone" in said[0] and "score FILE -m ctc" in said[0]
    )
    assert said[1] == "True False"


def test_a_word_is_red_where_the_texts_beside_the_output_do_not_have_it() -> None:
    rows = [
        {"system": "A", "input": 1, "output": "The cat, sleeping.", "source": "A cat slept on the mat."},
        {"system": "B", "input": 1, "output": "Dogs sat on the mat.", "source": "A cat slept on the mat."},
    ]
    where, words = spelled_words(load(rows))
    assert where == "source"
    assert words["A", "1"] == [("The", 1.0), (" ", None), ("cat", 1.0), (", ", None), ("sleeping", 0.0), (".", None)]
    german = [row | {"source": "Die Katze schlief.", "references": ["the cat slept"]} for row in rows]
    where, words = spelled_words(load(german))
    assert where == "references"
    assert [score for _, score in words["A", "1"]] == [1.0, None, 1.0, None, 0.0, None]
    assert spelled_words(load([row | {"source": ""} for row in rows])) == ("", {})


def test_without_the_extra_a_line_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    alignment(monkeypatch)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = disagree(run)
    assert any('pip install "nlgauge[neural]"' in line and "by spelling alone" in line for line in found.lines)
    assert all(card.words for card in found.cards)


def test_words_of_the_shown_outputs_get_the_scores_of_an_alignment_metric_of_the_data(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explain(batch: Any) -> Any:
        def aligned(text: str) -> Alignment:
            first = len(text.split(maxsplit=1)[0])
            return Alignment(text, np.array([[0, first]], np.int32), np.array([len(text) / 1000]))

        return None, [[{("y", ("x",)): aligned(text)}] for text in (batch.texts.list()[k] for k in batch.output)]

    alignment(monkeypatch, explain)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    found = disagree(run)
    assert any(line.startswith("Words of the outputs are coloured by unigram_f1") for line in found.lines)
    for card in found.cards:
        output = dict(card.texts)["Output"]
        assert "".join(piece for piece, _ in card.words) == output
        assert card.words[0][1] == pytest.approx(len(output) / 1000)
    run.quick = True  # then no model is run, whatever the data have
    assert any("by spelling alone" in line for line in disagree(run).lines)
