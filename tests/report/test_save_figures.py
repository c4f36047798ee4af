"""Figures as files: what stands in an SVG, how large a PNG is, that HTML fetches nothing; what each paper's figure
shows.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from nlgauge import registry
from nlgauge.data.example import example
from nlgauge.errors import NlgaugeError
from nlgauge.report.figures import figure_of
from nlgauge.report.figures.alignment import accuracy_curves, alignment_bars, kind_of, match_of
from nlgauge.report.figures.circles import bin_circles, correlation_circles, not_different
from nlgauge.report.figures.curves import over_years, study_curves, transfer_lines
from nlgauge.report.figures.dot_plots import distance_and_order
from nlgauge.report.figures.heat_maps import win_matrices
from nlgauge.report.save import Picture, dressed, save, save_all, save_tables
from nlgauge.stats.design.simulate import SimulationParams
from nlgauge.table import Layout, Table
from nlgauge_papers.gao2025 import simulation

CHROME = any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome")))
drawing = pytest.mark.skipif(
    not (CHROME and importlib.util.find_spec("kaleido")), reason="saving figures needs kaleido and a Chromium"
)


@pytest.fixture(scope="module")
def table() -> Table:
    return example().panel().correlate()


@pytest.fixture(scope="module")
def files(table: Table, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """All formats with one start of the browser."""
    folder = tmp_path_factory.mktemp("pictures")
    figure = figure_of(table)
    assert figure is not None
    plans = [
        ("a.svg", {}),
        ("b.png", {"width": 400, "height": 300, "scale": 2}),
        ("c.pdf", {}),
        ("d.svg", {"theme": "dark"}),
    ]
    made = save_all(Picture(figure, folder / name, **options) for name, options in plans)  # type: ignore[arg-type]
    return {path.name: path.read_bytes() for path in made}


@drawing
def test_an_svg_holds_the_names_of_metrics_and_measures_as_text(files: dict[str, bytes]) -> None:
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", files["a.svg"].decode()))
    assert {"unigram_f1", "char3_f1", "length_ratio", "source_overlap", "random"} <= texts
    assert {"input Kendall", "system Pearson"} <= texts


@drawing
def test_a_png_has_the_asked_size_times_its_scale(files: dict[str, bytes]) -> None:
    png = files["b.png"]
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (800, 600)


@drawing
def test_a_pdf_is_one_and_dark_is_dark(files: dict[str, bytes]) -> None:
    assert files["c.pdf"].startswith(b"%PDF-")
    assert b"rgb(20, 24, 31)" in files["d.svg"] and b"rgb(20, 24, 31)" not in files["a.svg"]


def test_an_html_file_names_no_script_of_another_host(table: Table, tmp_path: Path) -> None:
    (page,) = save_tables([table], tmp_path / "figure.html")
    text = page.read_text(encoding="utf-8")
    assert "unigram_f1" in text
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']?http", text) == []


def test_dressing_a_figure_leaves_the_figure_alone(table: Table) -> None:
    figure = figure_of(table)
    assert figure is not None
    assert dressed(figure, "dark").layout.font.color == "#e6e9ef"
    assert figure.layout.font.color is None


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x.bmp", {}, r"cannot save a figure as '\.bmp'; use \.svg, \.png, \.pdf, \.html"),
        ("x.html", {"theme": "pink"}, "no theme 'pink'; use light, dark, clear"),
        ("x.png", {"width": 0, "height": 10}, "must be positive"),
        ("x.html", {"scale": 0}, "must be positive"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_one_line(
    tmp_path: Path, name: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(NlgaugeError, match=words):
        save(go.Figure(), tmp_path / name, **options)


def test_a_table_without_a_picture_says_so(tmp_path: Path) -> None:
    with pytest.raises(NlgaugeError, match="no picture of strange"):
        save_tables([Table("t", [{"a": 1}], kind="strange")], tmp_path / "x.svg")


def test_several_tables_become_numbered_files(table: Table, tmp_path: Path) -> None:
    names = [p.name for p in save_tables([table, table], tmp_path / "figure.html")]
    assert names == ["figure-1.html", "figure-2.html"]


def test_without_kaleido_the_command_to_install_it_is_said(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['kaleido'] = None\nimport plotly.graph_objects as go\nfrom nlgauge.report.save "
        "import save\nfrom nlgauge.errors import NeedsMissing\ntry: save(go.Figure(), sys.argv[1])\nexcept "
        "NeedsMissing as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.svg")], capture_output=True, text=True, check=True
    )
    assert "pip install 'nlgauge[figures]'" in done.stdout


# --- figures of the papers: the numbers that are drawn are those of the table ---


def drawn(figure: go.Figure, name: str) -> dict[Any, Any]:
    """Of all traces of that name: y of each x (bars) or x of each y (dots)."""
    found: dict[Any, Any] = {}
    for trace in figure.data:
        if trace.name == name:
            found |= dict(zip(trace.y, trace.x, strict=True))
    return found


def test_nimah2023_figures_2_to_9_show_distances_left_and_similarity_right() -> None:
    panel = example().panel()
    distance, order = panel.analyze("discrimination"), panel.analyze("aspect-preference")
    figure = distance_and_order(distance, order)
    left = {row["metric"]: row["value"] for row in distance if row["contrast"] == "Lo-Hi"}
    assert drawn(figure, "Lo-Hi") == pytest.approx(left, nan_ok=True)
    assert drawn(figure, "all levels") == {row["metric"]: row["value"] for row in order}
    both = [registry.get("analysis", f"system-{name}")(example()) for name in ("discrimination", "preference")]
    sides = {trace.xaxis for trace in distance_and_order(*both).data if trace.name == "easy"}
    assert sides == {"x", "x2"}


def test_figures_of_several_panels_stand_below_each_other_in_a_narrow_picture() -> None:
    """Every value is drawn as in the wide one, one panel across, and the picture is taller for it."""
    both = [registry.get("analysis", f"system-{name}")(example()) for name in ("discrimination", "preference")]
    wins = registry.get("analysis", "wins")(example())
    for wide, narrow in (
        (distance_and_order(*both), distance_and_order(*both, across=1)),
        (win_matrices(wins), win_matrices(wins, across=1)),
    ):
        assert [list(t.x) for t in wide.data] == [list(t.x) for t in narrow.data]
        assert narrow.layout.height > 1.5 * wide.layout.height
        assert wide.layout.xaxis2.domain[0] > 0.4 > narrow.layout.xaxis2.domain[0] == narrow.layout.xaxis.domain[0]


def test_gao2025_figure_1_has_a_line_of_panels_for_each_study() -> None:
    params = SimulationParams(N=4, M=10)
    tables = simulation.relation(params, trials=2, grid=(0.0, 0.5), measures=["system/pearson", "item/pearson"])
    figure = study_curves(*tables)
    axes = [figure.layout[f"xaxis{n}"].title.text for n in ("", 2, 3, 4)]
    assert axes == ["ρ_sys", "ρ_sys", "μ_ρ", "μ_ρ"]
    found = {t.xaxis: list(t.y) for t in figure.data}
    for table, places in zip(tables, (("x", "x2"), ("x3", "x4")), strict=True):
        for measure, place in zip(("system/pearson", "item/pearson"), places, strict=True):
            assert found[place] == [row["value"] for row in table if row["measure"] == measure]


def test_colombo2023_figure_1_draws_whiskers_while_they_can_be_told_apart() -> None:
    def made(count: int) -> go.Figure:
        rows = [
            {"aspect": f"a{k}", "year": y, "value": k / 10 + y / 1e4, "low": 0.0, "high": 1.0, "measure": "m"}
            for k in range(count)
            for y in (2004, 2019)
        ]
        return over_years(Table("t", rows, facts={"new": {2004: ["x"], 2019: ["y"]}}))

    few, many = made(2), made(8)
    assert few.data[0].error_y.array and not many.data[0].error_y.array
    assert few.data[0].x != few.data[1].x and many.data[0].x == many.data[1].x == (2004, 2019)
    looks = {(t.line.color, t.marker.symbol) for t in many.data}
    assert len(looks) == 8  # no two lines look alike


def test_nimah2023_figure_1_labels_each_line_at_its_end_without_overlap() -> None:
    rows = [
        {"family": f, "group": g, "value": v}
        for f, g, v in [
            ("A", "ID", 0.5),
            ("A", "shift", 0.1),
            ("B", "ID", 0.4),
            ("B", "shift", 0.101),
            ("C", "ID", float("nan")),
        ]
    ]
    figure = transfer_lines(Table("t", rows, layout=Layout("family", "group", "value"), kind="transfer"))
    labels = {a.text: a.y for a in figure.layout.annotations}
    assert set(labels) == {"A 0.100", "B 0.101"}
    assert labels["B 0.101"] - labels["A 0.100"] > 0.01
    assert list(figure.data[0].y) == [0.5, 0.1]


def reproduced(**more: Any) -> Table:
    cells = [
        ("ROUGE-1", "pearson", "0.18", 0.181, "matches"),
        ("ROUGE-1", "spearman", "0.14", 0.14, "matches"),
        ("BLANC", "pearson", "0.22", float("nan"), "not computable"),
        ("Ours (E)", "pearson", "−0.40", 0.5, "differs"),
    ]
    rows = [
        {
            "metric": m,
            **more,
            "level": "sample",
            "coefficient": c,
            "printed": p,
            "ours": o,
            "difference": o - 0.2,
            "verdict": v,
            "reason": "",
            "why": "",
        }
        for m, c, p, o, v in cells
    ]
    return Table("deng2021, Table D.1: consistency", rows, kind="reproduce")


def test_deng2021_figures_3_to_6_have_printed_bars_and_our_diamonds() -> None:
    figure = alignment_bars(reproduced())
    pearson = next(t for t in figure.data if t.name == "pearson, printed")
    assert dict(zip(pearson.text, pearson.y, strict=True)) == {"ROUGE-1": 0.18, "BLANC": 0.22, "CTC (E)": -0.4}
    assert list(pearson.marker.color) == ["#0072B2", "#CC79A7", "#D55E00"]
    diamonds = figure.data[-1]
    assert dict(zip(diamonds.text, diamonds.y, strict=True)) == {"ROUGE-1": 0.181, "CTC (E)": 0.5}
    assert list(diamonds.x) == pytest.approx([0 - 0.19, 2 - 0.19])  # the middle of the dark bars
    assert [kind_of(m) for m in ("SUPERT", "BERTScore-f", "Align (D)")] == [
        "no references",
        "like references",
        "information alignment",
    ]
    yelp = next(t for t in alignment_bars(reproduced(), kind=match_of).data if t.name == "pearson, printed")
    assert dict(zip(yelp.text, yelp.marker.color, strict=True))["BLANC"] == "#CC79A7"  # matches embeddings or a model
    four = alignment_bars(reproduced(set="a"), reproduced(set="b"), reproduced(set="c"), leave=["b"])
    assert [a.text for a in four.layout.annotations][:2] == ["a", "c"]


def test_deng2021_figure_7_runs_from_low_to_high_accuracy() -> None:
    rows = [{"task": "XSUM", "accuracy": a, "pearson": a / 2, "spearman": a / 3} for a in (0.8, 0.6, 0.7)]
    figure = accuracy_curves(Table("t", rows))
    assert list(figure.data[0].x) == [0.6, 0.7, 0.8]
    assert list(figure.data[1].y) == pytest.approx([0.2, 0.7 / 3, 0.8 / 3])


def test_a_recomputed_table_is_drawn_as_printed_against_ours() -> None:
    figure = figure_of(reproduced())
    assert figure is not None
    assert {t.name: (list(t.x), list(t.y)) for t in figure.data} == {
        "matches (2)": ([0.18, 0.14], [0.181, 0.14]),
        "differs (1)": ([-0.4], [0.5]),
    }


def test_novikova2017_figure_1_has_circles_whose_area_is_the_correlation() -> None:
    table = example().panel().analyze("inter-metric")
    (trace,) = correlation_circles(table).data
    at = {(x, y): size for x, y, size in zip(trace.x, trace.y, trace.marker.size, strict=True)}
    value = {(r["other"], r["metric"]): abs(r["value"]) for r in table}
    one, two = ("unigram_f1", "char3_f1"), ("unigram_f1", "length_ratio")
    assert at[one] ** 2 / at[two] ** 2 == pytest.approx(value[one] / value[two])
    assert ("unigram_f1", "unigram_f1") not in at


def test_novikova2017_figure_2_crosses_pairs_that_do_not_differ_on_both_sides() -> None:
    rows = [
        {"better": "a", "worse": "b", "p_corrected": 0.2},
        {"better": "a", "worse": "c", "p_corrected": 0.01},
        {"better": "b", "worse": "c", "p_corrected": float("nan")},
    ]
    (trace,) = not_different(Table("t", rows)).data
    assert set(zip(trace.x, trace.y, strict=True)) == {("a", "b"), ("b", "a")}


def test_novikova2017_figure_3_has_bad_outputs_above_and_the_others_below() -> None:
    table = example().panel().analyze("quality-bins")
    figure = bin_circles(table)
    bad = {row["metric"]: f"{row['value']:.2f}" for row in table if row["bin"] == "bad"}
    assert dict(zip(figure.data[0].x, figure.data[0].text, strict=True)) == bad
    assert [a.text for a in figure.layout.annotations][:2] == ["rated bad", "rated average and good"]
