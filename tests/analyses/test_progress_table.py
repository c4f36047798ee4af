"""Progress over release years."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from analysis_panels import by
from aspect_data import data_of, made

from nlgauge.analyses.complementarity._released import Release, releases
from nlgauge.analyses.complementarity.progress import progress_over_years
from nlgauge.errors import NeedsMissing, NlgaugeError

YEARS = {"good": 2020, "fair": 2010, "noise": ("old", 2000), "error": ("old", 2000)}


def test_features_add_up_year_by_year() -> None:
    table = progress_over_years(made(), years=YEARS, model="ridge")
    rows = by(table, "aspect", "year")
    assert [rows["a0", y]["families"] for y in (2000, 2010, 2020)] == [1, 2, 3]
    assert table.facts["new"] == {2000: ["old"], 2010: ["fair"], 2020: ["good"]}
    assert rows["a0", 2020]["value"] > rows["a0", 2000]["value"]


def test_variants_of_a_family_are_averaged_as_standard_scores() -> None:
    """Two variants on different scales that each hold half of the truth: their mean, and not the louder one, counts."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 6, 60))
    data = data_of({"q": a + b}, {"v1": a, "v2": 1000 * b + 7})
    both = progress_over_years(data, years={"v1": ("f", 2001), "v2": ("f", 2001)}, model="ridge").rows[0]
    one = progress_over_years(data, years={"v1": ("f", 2001)}, metrics=["v1"], model="ridge").rows[0]
    assert both["families"] == 1
    assert both["value"] > 0.9 > one["value"]


def test_metrics_without_a_year_are_named_and_left_out() -> None:
    table = progress_over_years(made(), years={"good": 2020}, model="ridge")
    assert any("release year" in n and "fair, noise, error" in n for n in table.notes)
    assert any("same year" in n for n in table.notes)
    with pytest.raises(NeedsMissing, match="no release year of a metric is known"):
        progress_over_years(made(), model="ridge")


@pytest.mark.parametrize(
    ("name", "family", "year"),
    [
        ("ROUGE_WE_1", "ROUGE-WE", 2015),
        ("rouge_2_f_score", "ROUGE", 2004),
        ("ROUGE-SU* F-Score", "ROUGE", 2004),
        ("Bleu_4", "BLEU", 2002),
        ("BLEURT-20-refA", "BLEURT-20", 2021),
        ("f200spBLEU-refA", "spBLEU", 2022),
        ("Chrfpp", "chrF++", 2017),
        ("chrF-refA", "chrF", 2015),
        ("JS_2", "JS", 2006),
        ("bert_f_score", "BERTScore", 2019),
        ("XBERTScore", "XBERTScore", 2020),
        ("mover_score", "MoverScore", 2019),
        ("XMoverScore (CLP)", "XMoverScore", 2020),
        ("Unsupervised XmoverScore + ContrastScore", "UScore", 2022),
        ("XCOMET-XXL-refA", "xCOMET", 2023),
        ("docWMT22CometDA-refA", "Doc-COMET", 2022),
        ("COMET-refA", "COMET-22", 2022),
        ("TER", "TER", 2006),
        ("rouge-l(stem=True)", "ROUGE", 2004),
        ("token-f1", "token-f1", 2016),  # from our own registry
    ],
)
def test_names_of_published_tables_are_known(name: str, family: str, year: int) -> None:
    assert releases([name])[name] == Release(family, year)


@pytest.mark.parametrize("name", ["Random-sysname-src", "random", "length", "H:pyr", "quality_score", "my metric"])
def test_what_is_no_metric_of_the_literature_has_no_year(name: str) -> None:
    assert releases([name])[name] is None


def test_a_users_file_goes_first(tmp_path: Path) -> None:
    own = tmp_path / "years.csv"
    own.write_text("pattern,family,year\n^house,house metric,2025\nbleu,our BLEU,2003\n")
    found = releases(["house-1", "BLEU", "ROUGE_L"], own)
    assert found == {"house-1": ("house metric", 2025), "BLEU": ("our BLEU", 2003), "ROUGE_L": ("ROUGE", 2004)}
    assert releases(["x"], [{"pattern": "x", "family": "X", "year": "1999"}])["x"] == ("X", 1999)
    own.write_text("pattern,family,year\n[,a,2025\n")
    with pytest.raises(NlgaugeError, match="line 2"):
        releases(["a"], own)
    with pytest.raises(NlgaugeError, match="no such file"):
        releases(["a"], tmp_path / "none.csv")
