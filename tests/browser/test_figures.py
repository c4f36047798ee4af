"""Every figure in a real browser: drawn, inside its box, labels not cut off, without errors or requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_visit import Visit
from checklist_figures import checklist_tables

import nlgauge as ng
from nlgauge import registry
from nlgauge.analyses.errors.robustness import robustness
from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example
from nlgauge.data.load import load
from nlgauge.report.page import write_report
from nlgauge.stats.design.simulate import SimulationParams
from nlgauge.table import Table
from nlgauge_papers.gao2025 import simulation

SMALL = SimulationParams(N=4, M=12)
# Nothing that is drawn as text may leave its figure (2 px for rounding).
CUT_OFF = """figure => {
  const box = figure.getBoundingClientRect();
  return [...figure.querySelectorAll('text')].filter(t => t.textContent.trim()).map(t => [t.textContent, t.getBoundingClientRect()])
    .filter(([_, r]) => r.width > 0 && (r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 || r.bottom > box.bottom + 2))
    .map(([text, _]) => text);
}"""


def judged() -> Dataset:
    """Two raters and a judge that likes long outputs."""
    rng = np.random.default_rng(3)
    quality, words = rng.normal(size=240), rng.integers(5, 60, 240)
    points = [np.clip(np.round(3 + quality + rng.normal(size=240) * 0.5), 1, 5).astype(int).tolist() for _ in range(2)]
    judge = np.clip(np.round(3 + quality + np.log2(words) - 4.5), 1, 5).astype(int).tolist()
    return load(
        [
            {
                "system": f"s{i % 4}",
                "input": i // 4,
                "output": "word " * int(words[i]),
                "rating_1": points[0][i],
                "rating_2": points[1][i],
                "judge": judge[i],
            }
            for i in range(240)
        ]
    )


def tables() -> Iterator[Table]:
    data = example()
    panel = data.panel()
    yield panel.correlate()
    yield panel.analyze("compare-pairs", draws=49)
    yield panel.analyze("compare", draws=49)
    yield panel.analyze("intervals", draws=49)
    yield panel.analyze("stability", draws=49, trials=20)
    yield panel.analyze("measures", draws=49, trials=20, redraws=2)
    yield panel.analyze("agreement", draws=20)
    yield panel.analyze("ceiling", splits=5)
    yield panel.analyze("replacement")
    yield data.panel(metrics=["unigram_f1", "random"]).analyze("plan", sizes=[12, 24, 48], trials=5, draws=19)
    yield data.panel(metrics=["unigram_f1", "random"]).analyze("labels-needed", sizes=[80, 120], trials=5)
    yield from few_labels_and_choices()
    yield ng.analyze("bias", judged())
    yield ng.analyze("drift", [data, data])
    yield robustness(data, sample=20, draws=20)
    yield simulation.relation(SMALL, trials=2)[0]
    graded = [{"id": i, "label": int(i % 3 > 0), "judge": (i % 3 + i % 7) / 8.5} for i in range(60)]
    of_judge = load(graded, human=["label"], metrics=["judge"]).panel()
    for name in ("threshold", "calibration"):
        yield of_judge.analyze(name, part="curve")
    yield from ceiling_tables(data)
    yield simulation.scale(SMALL, trials=2, redraws=1)
    yield panel.analyze("uses")
    yield registry.get("analysis", "judges")(data, metrics=["unigram_f1", "random"])
    yield panel.analyze("fineness")
    yield from checklist_tables(data)
    yield from novikova_tables(data)
    labelled = [{"system": "s", "input": str(i), "label": int(i % 3 > 0), "judge": int(i % 4 > 0)} for i in range(40)]
    yield load(labelled, human=["label"], metrics=["judge"]).panel().analyze("verdicts")
    verdicts = {"difference": 0.01, "reason": "", "why": ""}
    yield Table(
        "nimah2023, Table 1",
        [{"metric": "m", "printed": "0.20", "ours": 0.21, "verdict": "differs", **verdicts}],
        kind="reproduce",
    )
    points = [
        {"task": "qags-xsum, consistency", "accuracy": a, "pearson": a / 3, "spearman": a / 4} for a in (0.6, 0.9)
    ]
    yield Table("Figure 7", points, kind="alignment-accuracy")
    yield from judge_tables()


def judge_tables() -> Iterator[Table]:
    """gao2025's order of measures, for two families of scorers."""
    families = ("judges", "metrics")
    cells = [
        {"family": f, "measure": m, "what": w, "value": 0.1 + 0.2 * i + 0.1 * k, "n": 100}
        for i, f in enumerate(families)
        for k, m in enumerate(("system/pearson", "input/kendall"))
        for w in ("DP", "RC")
    ]
    yield Table("order of measures", cells, kind="judge-measures")
    said = [
        {"family": f, "claim": c, "statement": s, "value": 0.1, "low": -0.1, "high": 0.3, "verdict": v}
        for f in families
        for c, s, v in (("T1", "a < b", "holds"), ("T2", "a > b", "cannot tell"))
    ]
    yield Table("statements", said, kind="judge-statements")


def few_labels_and_choices() -> Iterator[Table]:
    """A judge's verdict on every row, people's on some; and votes between two systems."""
    rng = np.random.default_rng(1)
    rows = [
        {"id": i, "judge": int(rng.random() < 0.7), "label": int(rng.random() < 0.6) if i < 60 else None}
        for i in range(150)
    ]
    yield ng.load(rows, name="labels", human=["label"]).estimate()
    votes = [
        {"input": i, "model_a": a, "model_b": b, "winner": rng.choice(["model_a", "model_b", "tie"])}
        for i in range(40)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    yield registry.get("analysis", "rank")(ng.load(votes, name="votes"))


def novikova_tables(data: Dataset) -> Iterator[Table]:
    """novikova2017's questions, on parts that are systems."""
    for name in ("quality-bins", "best-metric", "inter-metric"):
        yield data.panel().analyze(name)
    for name in ("split", "system-means", "relative-ranking", "characteristics", "disagreements", "ensemble"):
        split = {"by": "system"} if name in ("split", "ensemble") else {}
        yield registry.get("analysis", name)(data, **split)


def ceiling_tables(data: Dataset) -> Iterator[Table]:
    """colombo2023 takes the data set: aspects stand beside metrics."""
    years = {"unigram_f1": 2002, "char3_f1": 2015, "source_overlap": 2018}
    more: dict[str, dict[str, Any]] = {
        "predictability": {"model": "ridge"},
        "progress": {"model": "ridge", "years": years},
    }
    for name in ("complementarity", "consensus", "consensus-distance", "predictability", "progress", "portfolio"):
        yield registry.get("analysis", name)(data, **more.get(name, {}))


@pytest.fixture(scope="module")
def made() -> list[Table]:
    return list(tables())


@pytest.fixture(scope="module")
def page_file(made: list[Table], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(
        tmp_path_factory.mktemp("figures") / "figures.html",
        "figures",
        [],
        [*made, Table("no picture", [{"a": 1}])],
        ["run"],
    )


def test_every_analysis_with_a_figure_is_on_the_page(made: list[Table]) -> None:
    assert {t.kind for t in made} == set(registry.names("figure"))


@pytest.mark.parametrize("width", [1440, 700])
def test_all_figures_are_drawn_and_no_text_is_cut_off(
    visit: Visit, page_file: Path, made: list[Table], width: int
) -> None:
    page = visit.open(page_file, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.locator("svg.figure").count() == len(made)
    for k, table in enumerate(made):
        figure = page.locator("svg.figure").nth(k)
        assert figure.locator("path, circle, rect").count() > 3, table.kind
        assert "NaN" not in figure.inner_html() and "nan" not in figure.inner_html(), table.kind
        assert figure.evaluate(CUT_OFF) == [], table.kind
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.errors == []
    assert visit.requests == [page_file.resolve().as_uri()]
