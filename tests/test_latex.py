"""LaTeX of tables: numbers in siunitx columns, marks of significance, nothing that breaks a document."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nlgauge.data.example import example
from nlgauge.markup import SPECIAL
from nlgauge.table import Layout, Table

PAGE = r"""\documentclass{article}
\usepackage{booktabs, graphicx, siunitx}
\begin{document}
%s
\end{document}
"""


def ranked() -> Table:
    rows = [
        {"rank": 1, "metric": "a_b", "value": 0.5, "p_to_next": 0.2, "n": 1600},
        {"rank": 1, "metric": "c", "value": 0.4, "p_to_next": 0.0004, "n": 1600},
        {"rank": 2, "metric": "d", "value": -0.25, "p_to_next": None, "n": 99},
    ]
    return Table("Ranks", rows, shown=["rank", "metric", "value", "p_to_next", "n"])


def pairs() -> Table:
    rows = [
        {"better": "a", "worse": "b", "p": 0.001, "p_corrected": 0.02},
        {"better": "a", "worse": "c", "p": 0.04, "p_corrected": 0.3},
        {"better": "b", "worse": "c", "p": float("nan"), "p_corrected": float("nan")},
    ]
    return Table("Pairs", rows, Layout("better", "worse", "p_corrected"))


def hostile() -> Table:
    texts = ["".join(SPECIAL), r"\input{x}", "100 % & more_", "†‡*", "–", ""]
    return Table("$#%", [{"text": t, "note": t, "v": 1.5} for t in texts], notes=texts, method="~^\\")


def lines_of(tex: str) -> list[str]:
    return [line.strip() for line in tex.splitlines()]


def test_numbers_stand_in_s_columns_with_the_room_they_need() -> None:
    tex = ranked().to_latex()
    form = re.search(r"begin\{tabular\}\{(.*)\}$", tex, re.M)
    assert form is not None
    assert form[1] == (
        "S[table-format = 1] l S[table-format = -1.3] S[table-format = <1.3, table-space-text-post = {***}] "
        "S[table-format = 4]"
    )
    assert r"{rank} & metric & {value} & {p to next} & {n} \\" in lines_of(tex)


def test_ranks_are_ruled_apart_and_the_first_is_bold() -> None:
    body = lines_of(ranked().to_latex())
    start = body.index(r"\midrule")
    assert body[start + 1 : start + 5] == [
        r"1 & \textbf{a\_b} & 0.500 & 0.200 & 1600 \\",
        r"1 & \textbf{c} & 0.400 & <0.001{***} & 1600 \\",
        r"\midrule",
        r"2 & d & -0.250 & {--} & 99 \\",
    ]


def test_stars_follow_the_corrected_p() -> None:
    tex = pairs().to_latex()
    assert r"a & 0.020{*} & 0.300 \\" in lines_of(tex)  # the raw p of both is below .05
    assert r"b & {--} & {--} \\" in lines_of(tex)
    assert r"* p \textless{} .05, ** p \textless{} .01, *** p \textless{} .001 after the correction." in tex


def test_marks_in_a_text_go_behind_the_number() -> None:
    rows = [{"m": m, "part": "x", "shown": s} for m, s in [("a", ".21*†"), ("b", "-.02")]]
    tex = Table("T", rows, Layout("m", "part", "shown")).to_latex()
    assert r"a & 0.21{*\textsuperscript{\textdagger}} \\" in lines_of(tex)
    assert r"b & -0.02 \\" in lines_of(tex)


def test_heads_that_share_their_first_word_stand_below_it() -> None:
    rows = [{"m": "a", "x": x, "v": 0.5} for x in ("system r", "system ρ", "input r", "input ρ", "n")]
    lines = lines_of(Table("T", rows, Layout("m", "x", "v")).to_latex())
    start = lines.index(r"\toprule")
    assert lines[start + 1 : start + 4] == [
        r"{} & \multicolumn{2}{c}{system} & \multicolumn{2}{c}{input} & {} \\",
        r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}",
        r"m & {r} & {$\rho$} & {r} & {$\rho$} & {n} \\",
    ]


@pytest.mark.parametrize("table", [ranked(), pairs(), hostile()], ids=lambda t: t.title)
def test_every_line_has_as_many_cells_as_the_head_and_braces_close(table: Table) -> None:
    tex = table.to_latex()
    plain = re.sub(r"\\[\\&%$#_{}]", "", tex.replace("\\\\\n", "\n"))
    assert plain.count("{") == plain.count("}")
    assert not re.search(r"(?<!\\)[#~^]", plain.replace("$^", ""))
    rows = [re.sub(r"\\&", "", line) for line in tex.splitlines() if line.endswith(r" \\")]
    assert {row.count("&") for row in rows} == {len(table.grid()[0]) - 1}


def test_a_table_wider_than_the_page_is_scaled_to_it_and_the_method_is_a_comment() -> None:
    rows = [{"m": "a", "x": f"measure {k}", "v": 0.5, "s": "0.64 [0.47, 0.77]"} for k in range(9)]
    tex = Table("T", rows, Layout("m", "x", "s"), method="100 % exact.", answers=["a leads."]).to_latex()
    assert r"\resizebox{\textwidth}{!}{%" in tex and tex.startswith(r"% \usepackage{booktabs, graphicx, siunitx}")
    assert r"\caption{T. a leads.}" in tex and tex.endswith("% 100 \\% exact.\n")
    assert "resizebox" not in pairs().to_latex()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_a_document_with_our_tables_compiles(tmp_path: Path) -> None:
    tables = [ranked(), pairs(), hostile(), example().panel().correlate()]
    (tmp_path / "t.tex").write_text(PAGE % "\n".join(t.to_latex() for t in tables), encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-draftmode", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stdout[-2000:]
