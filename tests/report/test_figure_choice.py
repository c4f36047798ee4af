"""Which table has which figure, and what stands in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.cli._screen import print_tables
from nlgauge.errors import NlgaugeError
from nlgauge.report.figures import figure_of
from nlgauge.report.figures.dot_plots import joined
from nlgauge.report.figures.stability import p_value_curves, power_and_consistency
from nlgauge.report.listing import available
from nlgauge.table import Layout, Table


def test_a_table_without_a_picture_gives_none() -> None:
    assert figure_of(Table("x", [{"a": 1}], kind="parameters")) is None
    assert all(figure_of(Table("x", [], kind=kind)) is None for kind in registry.names("figure"))


def test_every_figure_is_listed_with_its_analyses_and_what_it_shows() -> None:
    rows = available("figures").rows
    assert sorted(name for row in rows for name in row["analysis"].split(", ")) == registry.names("figure")
    assert len({row["figure"] for row in rows}) == len(rows) and all(len(row["what"]) > 20 for row in rows)
    drawn = {row["figure"]: row["analysis"] for row in available("figure")}
    assert drawn["heat_map"] == "ceiling, correlate, split"


@pytest.mark.parametrize(
    ("alike", "bars"),
    [
        ({"a": "", "b": "", "c": ""}, []),
        ({"a": "b", "b": "a", "c": ""}, [(0, 1, 0)]),
        ({"a": "b", "b": "ac", "c": "b"}, [(0, 1, 0), (1, 2, 1)]),
        ({"a": "b", "b": "a", "c": "d", "d": "c"}, [(0, 1, 0), (2, 3, 0)]),
        ({"a": "bc", "b": "ac", "c": "ab"}, [(0, 2, 0)]),
    ],
)
def test_bars_join_the_longest_runs_of_which_no_two_differ(alike: dict[str, str], bars: list[Any]) -> None:
    assert joined(list(alike), {name: list(others) for name, others in alike.items()}) == bars


def stability_rows() -> list[dict[str, Any]]:
    names = [f"{g}/{c}" for g in ("system", "input", "global", "item") for c in ("pearson", "spearman", "kendall")]
    return [{"measure": m, "dp": 0.01 * k + 0.02, "rc": 0.9 - 0.03 * k} for k, m in enumerate(names)]


def test_every_measure_has_its_own_color_and_dash() -> None:
    rows = stability_rows()
    table = Table("x", rows, kind="stability", facts={"curves": {r["measure"]: [0.5, 0.2, 0.01] for r in rows}})
    lines = {(t.line.color, t.line.dash) for t in p_value_curves(table).data}
    assert len(lines) == 12
    signs = {(t.marker.color, t.marker.symbol) for t in power_and_consistency(table).data}
    assert len(signs) == 12


def test_undefined_values_are_left_out_and_not_drawn_as_zero() -> None:
    rows = stability_rows()
    rows[0]["dp"] = float("nan")
    assert len(power_and_consistency(Table("x", rows, kind="stability")).data) == 11


def test_hostile_names_are_text_in_every_figure_that_shows_names() -> None:
    bad = "<b>x</b><a href='javascript:1'>y</a>"
    rows = [{"rank": 1, "metric": bad, "measure": "input/kendall", "value": 0.5, "low": 0.4, "high": 0.6}]
    pairs = [{"better": bad, "worse": "z", "p_corrected": 0.01}]
    for kind, content in (("compare", rows), ("intervals", rows), ("compare-pairs", pairs)):
        figure = figure_of(Table("x", content, kind=kind, facts={"no_different_from": {bad: []}}))
        assert figure is not None
        assert "<b>" not in json.dumps(json.loads(figure.to_json()))


def test_the_power_curve_says_the_target_and_marks_the_size_of_the_data() -> None:
    rows = [
        {"inputs": n, "power": p, "se": 0.05, "target": 0.8, "now": n == 20}
        for n, p in ((10, 0.3), (20, 0.6), (40, 0.9))
    ]
    figure = registry.get("figure", "plan")(Table("x", rows, kind="plan"))
    assert list(figure.data[0].y) == [0.3, 0.6, 0.9]
    assert np.argmax(figure.data[0].marker.size) == 1
    assert figure.layout.shapes[0].y0 == 0.8


def test_a_figure_of_ones_own_draws_tables_of_its_analysis_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import plotly.graph_objects as go\nfrom nlgauge.report.figures import figure\n"
        '@figure("own-kind")\ndef own(table): return go.Figure(layout={"title": {"text": "own"}})\n',
        encoding="utf-8",
    )
    table = Table("x", [{"a": 1}], kind="own-kind")
    assert table.plot(f"{path}@own-kind").layout.title.text == "own"
    with pytest.raises(NlgaugeError, match="draws tables of 'own-kind', and this is one of 'plan'"):
        Table("x", [{"a": 1}], kind="plan").plot(f"{path}@own-kind")
    with pytest.raises(NlgaugeError, match=r"own\.py: has no figure 'plans'"):
        Table("x", [{"a": 1}], kind="plans").plot(f"{path}@plans")


def test_a_figure_without_a_file_for_it_is_refused() -> None:
    with pytest.raises(NlgaugeError, match="name the file that it goes to"):
        print_tables([Table("x", [{"a": 1}])], figure="own.py@own-kind")


def test_a_pairwise_accuracy_at_chance_is_white_in_the_table_of_colors() -> None:
    """0.5 is chance for an accuracy and 0 for a correlation: one scale of colors has to show both as nothing."""
    rows = [
        {"metric": m, "aspect": "q", "measure": measure, "value": value}
        for m, values in (("coin", (0.5, 0.0)), ("good", (0.9, 0.7)))
        for measure, value in zip(("input/pairwise-accuracy", "input/kendall"), values, strict=True)
    ]
    table = Table("t", rows, layout=Layout("metric", "measure", "value"), kind="correlate")
    drawn = figure_of(table)
    assert drawn is not None
    assert [list(line) for line in drawn.data[0].z] == [[0.0, 0.0], [pytest.approx(0.8), 0.7]]
    assert drawn.data[0].customdata[0][0].startswith("0.5000") and drawn.data[0].text[1][0] == "0.900"
    assert list(drawn.data[0].x) == ["input pairwise accuracy", "input Kendall"]


def test_the_figure_of_granularity_begins_with_the_original_scores() -> None:
    table = ng.analyze("fineness", ng.example(), measures=["input/kendall"], levels=[3, 5])
    versions = {tuple(line.x) for line in table.plot().data}
    assert versions == {("original", "5 levels", "3 levels")}
