"""Every set of the mirror loads by name, whole and joined; Table 5 of gao2025 comes out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from catalogue_tools import joined, loaded

from loops import for_each
from nlgauge.data.dataset import KEY
from nlgauge.datasets import entries, entry, load_set
from nlgauge.datasets.download import is_whole
from nlgauge.errors import DataError, NameUnknown

pytestmark = pytest.mark.real
# The sets whose files are in the mirror: those that were not seen here are checked by the name git gives their content.
LOADABLE = [e.name for e in entries() if e.loader and all(f.sha256 for f in e.files if not f.extra)]
# systems, inputs, outputs, raters, metrics: the counts of ../shared/data/README.md and of the papers.
SHAPES = {
    "bagel-sf": (3, 1280, 2460, 0, 26),
    "summeval": (16, 100, 1600, 8, 13),
    "summeval-table": (16, 100, 1600, 0, 13),
    "usr-persona": (5, 60, 300, 4, 43),
    "usr-topical": (6, 60, 360, 5, 49),
    "usr-persona-table": (4, 60, 240, 0, 13),
    "usr-topical-table": (5, 60, 300, 0, 13),
    "qags-cnndm": (1, 235, 235, 162, 1),
    "qags-xsum": (1, 239, 239, 84, 1),
    "newsroom": (7, 60, 420, 3, 0),
    "realsumm": (24, 100, 2400, 4, 14),
    "realsumm-table": (25, 100, 2500, 0, 14),
    "hanna": (11, 96, 1056, 3, 72),
    "openmeva": (5, 200, 1000, 0, 19),
    "webnlg2020-en": (17, 178, 3025, 88, 0),
    "webnlg2020-ru": (8, 110, 880, 36, 0),
    "yelp": (12, 244, 2928, 0, 22),
    "ctrleval-senti": (1, 360, 360, 0, 0),
    "ctrleval-topic": (1, 960, 960, 0, 12),
    "rankme-likert-1": (3, 100, 300, 16, 0),
    "rankme-likert-2": (3, 100, 300, 52, 0),
    "rankme-plain-1": (3, 100, 300, 23, 0),
    "rankme-plain-2": (3, 100, 300, 54, 0),
    "rankme-rank-1": (3, 100, 300, 16, 0),
    "rankme-rank-2": (3, 100, 300, 24, 0),
    "wmt23-en-de": (14, 557, 7798, 0, 44),
    "wmt23-zh-en": (17, 1976, 33592, 0, 43),
    "mqm-newstest2020-en-de": (10, 1418, 14180, 0, 0),
    "mqm-newstest2020-zh-en": (10, 2000, 20000, 0, 0),
    "mqm-newstest2021-en-de": (17, 1002, 17034, 0, 0),
    "mqm-newstest2021-zh-en": (15, 1948, 29220, 0, 0),
    "mqm-ted-en-de": (14, 606, 8484, 4, 0),
    "mqm-ted-zh-en": (15, 843, 12645, 9, 0),
    "mlqe": (7, 1000, 7000, 6, 10),
    "mlqe-table": (7, 1000, 7000, 0, 9),
    **{f"mlqe-{p}": (1, 1000, 1000, 6, 10) for p in ("en-de", "en-zh", "et-en", "ne-en", "ro-en", "si-en")},
    "mlqe-ru-en": (1, 1000, 1000, 3, 10),
    "ctrl-topic": (3, 520, 1040, 3, 18),
    "uber-topic": (4, 2438, 4876, 13, 0),
    "usr-topical-scores": (6, 60, 360, 5, 3),
    "tac08": (62, 48, 2976, 0, 13),
    "tac09": (59, 44, 2596, 0, 13),
    "tac11": (54, 44, 2376, 0, 13),
    "flickr": (8, 108, 864, 0, 13),
    "checklist-usr-pc": (5, 60, 300, 4, 30),
    "checklist-usr-tc": (6, 60, 360, 5, 30),
    "checklist-unieval-tc": (6, 60, 360, 0, 29),
    "checklist-ctrleval-topic": (1, 960, 960, 0, 12),
}
TEXTLESS = {
    "webnlg2020-ru",
    *(n for n in LOADABLE if n.endswith("-table") or n.startswith(("tac", "flickr", "mqm-news"))),
}


# --- every set ---


@for_each(LOADABLE)
def test_the_mirror_holds_the_files_of_the_catalogue(name: str, real_data: Path) -> None:
    for f in entry(name).files:
        assert is_whole(real_data / f.path, f.size, f.sha256), f.path


# Folders of the mirror that are read as they are and have no entry: examples for judges, trials and provenance.
NOT_CATALOGUED = {"alt_test", "cje_arena", "ctc_authors_scores", "judge_bench", "ragchecker_meta", "summedits"}


def test_no_data_file_of_the_mirror_is_left_out(real_data: Path) -> None:
    known = {f.path for e in entries() for f in e.files if f.sha256}
    there = {
        str(p.relative_to(real_data)) for p in real_data.glob("*/*") if not p.name.startswith(("LICENSE", "README"))
    }
    assert {path for path in there if path.partition("/")[0] not in NOT_CATALOGUED} == known


def test_every_loadable_set_has_its_shape_here() -> None:
    assert set(SHAPES) == set(LOADABLE)


@for_each(LOADABLE)
def test_shape(name: str, real_data: Path) -> None:
    data = loaded(real_data, name)
    found = (len(data.systems), len(data.inputs), len(data), len(data.raters), len(data.metrics))
    assert found == SHAPES[name]


@for_each(LOADABLE)
def test_tables_are_keyed_and_joined(name: str, real_data: Path) -> None:
    data = loaded(real_data, name)
    assert data.name == name
    assert data.scores.select(KEY).equals(data.samples.select(KEY))
    assert data.ratings.select(*KEY, "aspect", "rater").is_unique().all()
    assert data.ratings.join(data.samples, on=KEY, how="anti").is_empty()
    assert data.ratings["value"].is_finite().all()
    assert not any(data.scores[m].is_nan().any() for m in data.metrics)
    assert all(data.scores[m].count() for m in data.metrics)


@for_each(LOADABLE)
def test_aspects_people_and_texts_are_as_the_catalogue_says(name: str, real_data: Path) -> None:
    data, facts = loaded(real_data, name), entry(name)
    assert data.aspects == list(facts.aspects)
    assert data.human_systems == set(facts.human_systems)
    assert ("output" in data.samples.columns and data.samples["output"].count() > 0) == (name not in TEXTLESS)


@for_each(LOADABLE)
def test_ratings_stay_on_their_scale(name: str, real_data: Path) -> None:
    data = loaded(real_data, name)
    for aspect, scale in entry(name).aspects.items():
        values = data.ratings.filter(pl.col("aspect") == aspect)["value"]
        if ends := re.match(r"([\d.]+)–([\d.]+)", scale):
            assert values.min() >= float(ends[1]) - 1e-9, aspect
            assert values.max() <= float(ends[2]) + 1e-9, aspect
        elif scale.startswith("≤ 0"):
            assert values.max() <= 0


@pytest.mark.parametrize("name", ["bagel-sf", "qags-cnndm", "mqm-ted-zh-en", "summeval-table"])
def test_what_get_downloads_is_enough_to_load(real_data: Path, tmp_path: Path, name: str) -> None:
    for f in entry(name).files:
        if f.downloadable and not f.extra:
            (tmp_path / f.path).parent.mkdir(exist_ok=True)
            shutil.copyfile(real_data / f.path, tmp_path / f.path)
    data = load_set(name, tmp_path)
    assert len(data) == SHAPES[name][2]
    assert name == "summeval-table" or any("is missing: " in note for note in data.notes)


def test_an_unknown_option_of_a_set_is_one_clear_line(real_data: Path) -> None:
    with pytest.raises(DataError, match="no such option"):
        load_set("newsroom", real_data, judges=True)
    with pytest.raises(NameUnknown, match="Did you mean 'news'"):
        load_set("wmt23-zh-en", real_data, domain="new")


# --- Table 5 of gao2025: mean and SD of system means, unique values and tie ratio of ratings ---

TABLE_5 = {
    ("summeval", "coherence"): (0.60, 0.15, 13, 0.10), ("summeval", "consistency"): (0.92, 0.14, 12, 0.67),
    ("summeval", "fluency"): (0.92, 0.09, 13, 0.53), ("summeval", "relevance"): (0.69, 0.09, 13, 0.13),
    ("hanna", "Coherence"): (0.54, 0.13, 13, 0.13), ("hanna", "Complexity"): (0.36, 0.14, 13, 0.12),
    ("hanna", "Empathy"): (0.32, 0.09, 12, 0.13), ("hanna", "Engagement"): (0.42, 0.13, 13, 0.12),
    ("hanna", "Relevance"): (0.41, 0.14, 13, 0.10), ("hanna", "Surprise"): (0.28, 0.10, 12, 0.15),
    ("openmeva", "overall"): (0.38, 0.15, 21, 0.06),
    ("usr-persona", "Engaging"): (0.38, 0.07, 7, 0.24), ("usr-persona", "MaintainsContext"): (0.37, 0.09, 7, 0.31),
    ("usr-persona", "Natural"): (0.44, 0.04, 7, 0.48), ("usr-persona", "Overall"): (0.69, 0.19, 12, 0.11),
    ("usr-persona", "Understandable"): (-0.01, 0.01, 4, 0.84), ("usr-persona", "UsesKnowledge"): (-0.14, 0.09, 4, 0.38),
    ("usr-topical", "Engaging"): (0.28, 0.13, 7, 0.15), ("usr-topical", "MaintainsContext"): (0.31, 0.12, 7, 0.17),
    ("usr-topical", "Natural"): (0.32, 0.11, 7, 0.17), ("usr-topical", "Overall"): (0.54, 0.27, 13, 0.08),
    ("usr-topical", "Understandable"): (-0.08, 0.06, 4, 0.33), ("usr-topical", "UsesKnowledge"): (-0.11, 0.06, 4, 0.33),
}  # fmt: skip


@pytest.mark.parametrize(("name", "aspect"), list(TABLE_5))
def test_table_5_of_gao2025_is_recomputed(real_data: Path, name: str, aspect: str) -> None:
    frame = joined(loaded(real_data, name), aspect).with_columns((pl.col("value") - 1) / 4)
    means = frame.group_by("system").agg(pl.col("value").mean())["value"]
    counts = frame["value"].round(9).value_counts()["count"].to_numpy().astype(float)
    n = counts.sum()
    ties = (counts * (counts - 1)).sum() / (n * (n - 1))
    mean, sd, unique, tie_ratio = TABLE_5[name, aspect]
    assert len(counts) == unique
    assert [means.mean(), means.std(), ties] == pytest.approx([mean, sd, tie_ratio], abs=0.0055)


def test_wmt23_news_has_the_unique_values_and_ties_of_gao2025(real_data: Path) -> None:
    news = load_set("wmt23-zh-en", real_data, domain="news")
    values = joined(news, "mqm")["value"].round(6)
    counts = values.value_counts()["count"].to_numpy().astype(float)
    assert set(news.samples["domain"]) == {"news"}
    assert joined(news, "mqm")["system"].n_unique() == 16
    assert len(counts) == 239
    assert (counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)) == pytest.approx(0.11, abs=0.005)
