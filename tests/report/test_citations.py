"""The bibliography: every analysis and metric has its papers, with author, year, link and BibTeX."""

from __future__ import annotations

import re

import pytest

import nlgauge as ng
from nlgauge import registry
from nlgauge.bibliography import bibliography, bibtex, cited
from nlgauge.report.listing import available
from nlgauge.report.sections import ReportContext
from nlgauge.report.sections.agreeing import agrees
from nlgauge.session import Session


def test_every_entry_has_author_year_title_and_link() -> None:
    assert len(bibliography()) > 50
    for key, entry in bibliography().items():
        assert entry.authors and all(entry.authors), key
        assert re.fullmatch(r"(19|20)\d\d", entry.year), key
        assert entry.link.startswith("https://") and len(entry.title) > 3, key


def test_every_paper_of_an_analysis_and_every_metric_is_in_the_bibliography() -> None:
    papers = {registry.get("analysis", name).paper for name in registry.names("analysis")} - {""}
    known = set(bibliography())
    assert papers <= known
    cites = {row["cite"] for row in available("metrics", long=True).rows if row.get("cite")}
    assert len(cites) > 20 and cites <= known, cites - known


def test_bibtex_has_balanced_braces_and_no_field_of_ours() -> None:
    text = bibtex(list(bibliography().values()))
    assert text.count("{") == text.count("}") and "analyses" not in text
    keys = re.findall(r"^@\w+\{([^,]+),$", text, re.M)
    assert keys == list(bibliography())


@pytest.mark.parametrize(
    ("analysis", "names"),
    [
        ("compare", ["Gao et al. (2025)", "Deutsch et al. (2021)"]),
        ("replacement", ["Calderon et al. (2025)"]),
        ("agreement", ["Krippendorff (2011)"]),
    ],
)
def test_an_analysis_cites_its_paper_and_its_methods(analysis: str, names: list[str]) -> None:
    cites = [entry.short for entry in ng.analyze(analysis, ng.example()).cite()]
    # `random`, a metric of the example, is that of novikova2017.
    assert [name for name in cites if name != "Novikova et al. (2017)"] == names


def test_a_table_cites_the_metrics_that_it_names() -> None:
    rows = [{"system": s, "input": i, "quality": i, "bleu": i, "chrf": -i} for s in "AB" for i in range(4)]
    table = ng.load(rows, human=["quality"], metrics=["bleu", "chrf"]).panel().correlate()
    assert {"papineni-etal-2002-bleu", "popovic-2015-chrf"} <= {entry.key for entry in table.cite()}
    assert cited("no such analysis") == []


def test_the_table_of_measures_is_well_formed_latex() -> None:
    """No TeX is needed: rows have as many cells as the format has columns, groups and environments are closed."""
    (part,) = agrees(ReportContext(Session(ng.example()), quick=True)).parts
    text = part.tables[0].to_latex()
    assert re.search(r"0\.\d\d \[-?0\.\d\d, \d\.\d\d\] [a-z]+", text)
    plain = re.sub(r"\\[{}&%]", "", text)
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\begin\{(\w+\*?)\}", text) == re.findall(r"\\end\{(\w+\*?)\}", text)[::-1]
    columns = re.search(r"\\begin\{tabular\}\{(.*)\}", text)
    assert columns is not None
    n = len(re.findall(r"[lrc]|S\[", re.sub(r"\[[^]]*\]", "[", columns[1])))
    rows = [line for line in plain.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert len(rows) > 5 and {line.count("&") + 1 for line in rows} == {n}
