"""The inventory is whole: what it names exists, every study is in it, and the published cells can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nlgauge import registry
from nlgauge.cli import all_verbs
from nlgauge.datasets import entries, entry
from nlgauge.errors import NameUnknown
from nlgauge_papers import PAPERS, all_studies
from nlgauge_papers.compare import published
from nlgauge_papers.inventory import KINDS, STATES, find_paper, find_table, items, papers, studies

REPO = Path(__file__).resolve().parents[2]
FILE = re.compile(r"[\w./-]+/[\w.-]+\.(?:py|json|csv|toml|md|yaml)")
VERB = re.compile(r"nlgauge (\w+)")
ALL = items()


def test_papers_are_the_five_and_items_belong_to_them() -> None:
    assert [p.id for p in papers()] == ["nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017"]
    assert {item.paper for item in ALL} <= {p.id for p in papers()}


def test_an_item_says_what_it_is_in_known_words() -> None:
    for item in ALL:
        assert item.kind in KINDS
        assert item.state in STATES
        assert item.what
        assert item.missing or item.state in ("recomputed", "offered")
        assert not re.search(r"not at hand|cannot be had|no (public )?copy|not in the mirror", item.missing)
        assert set(item.data) <= {e.name for e in entries()}


def test_a_metric_whose_code_is_here_says_where_and_is_not_said_to_be_missing() -> None:
    for item in [i for i in ALL if i.kind == "metric"]:
        words = {w.lower() for w in re.findall(r"[\w-]+", item.name)}
        here = [name for name in registry.names("metric") if {name, name.partition("-")[0]} & words]
        if here:
            assert item.state not in ("to fetch", "never published")
            assert item.where


def test_a_set_is_to_fetch_where_users_fetch_its_files_or_no_loader_reads_it() -> None:
    for item in [i for i in ALL if i.kind == "data" and i.data]:
        seen = [e.loader is not None and all(f.downloadable for f in e.needed) for e in map(entry, item.data)]
        assert (item.state == "to fetch") == (not any(seen))


def test_the_files_and_verbs_an_item_names_exist() -> None:
    for item in ALL:
        for file in FILE.findall(item.where):
            assert any((root / file).exists() for root in (REPO / "src" / "nlgauge", REPO / "papers" / "src", REPO)), (
                file
            )
        verbs = all_verbs()
        for verb in VERB.findall(item.where):
            assert verb in verbs


def test_what_is_recomputed_has_a_study_or_a_place() -> None:
    for item in [i for i in ALL if i.state == "recomputed"]:
        if item.study:
            assert item.study in all_studies()
        else:
            assert FILE.search(item.where) or VERB.search(item.where), item.where


def test_every_study_is_in_the_inventory_and_every_named_study_exists() -> None:
    assert {item.study for item in ALL if item.study} == set(all_studies())


def test_no_two_items_of_a_paper_share_kind_and_name() -> None:
    keys = [(item.paper, item.kind, item.name) for item in ALL]
    assert len(set(keys)) == len(keys)


def test_every_published_file_belongs_to_a_study_and_every_study_has_one() -> None:
    assert set(PAPERS.glob("*/published/*.csv")) == {s.published for s in studies() if not s.further}


def test_published_cells_have_one_key_each_and_parse() -> None:
    for study in [s for s in studies() if not s.further]:
        columns, cells = published(study)
        assert columns
        assert len({cell.key for cell in cells}) == len(cells) > 0
        for cell in cells:
            assert isinstance(cell.value, float)
            assert all(cell.key)


def test_papers_go_by_citation_key_or_short_name() -> None:
    assert find_paper("novikova2017").id == find_paper("Novikova").id == "novikova2017"
    with pytest.raises(NameUnknown, match="Did you mean 'measures'"):
        find_paper("measure")


def test_tables_go_by_number_or_title_and_need_no_study() -> None:
    assert [s.name for s in find_table("gao2025", "5")[0]] == ["gao2025/5"]
    assert [s.name for s in find_table("deng2021", "Table D.1")[0]] == ["deng2021/D.1"]
    found, listed = find_table("gao2025", "4")
    assert not found
    assert [i.name for i in listed] == ["Table 4"]
    with pytest.raises(NameUnknown, match=r"deng2021 has no table 'D\.9'"):
        find_table("deng2021", "D.9")
