"""The ledger has every printed cell once: the sizes of the tables counted by hand from the papers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from nlgauge_papers import PAPERS, ledger
from nlgauge_papers.compare import VERDICTS
from nlgauge_papers.inventory import studies

LEDGER = Path(__file__).resolve().parents[2] / "docs/papers/ledger.csv"
# Rows × columns of the papers' tables, less what is not printed or lost in the text of the paper.
BY_HAND = {
    "nimah2023": {
        "2": 9, "5": 6 * 3, "6": 6 * 3, "7": 3 * 20, "8": 4 * 20 - 2, "10": 7, "11": 23, "12": 24, "13": 12, "14": 5,
        "15": 8, "16": 8, "17": 3 * 2 * 8, "18": 3 * 2 * 8, "19": 2 * 2 * 6, "20": 3 * 2 * 7, "21": 3 * 2 * 7,
        "22": 2 * 2 * 5, "section-3.3": 5, "section-5.3": 6, "figure-7": 9 + 6,
    },
    "deng2021": {
        "1": 3 * 4, "2": 3 * 3, "3": 3 * 2 * 2, "A.1": 2, "C.1": 21 + 15, "D.1": 23 * 6, "D.2": 23 * 6, "D.3": 23 * 6,
        "D.4": 62, "E.1": 18 * 6, "F.1": 100, "F.2": 100, "F.3": 100, "F.4": 100, "F.5": 24, "F.6": 14 * 2 * 4,
    },
    "gao2025": {
        "1": 6 * 4, "2": 30 * 12, "3": 30 * 12, "5": 30 * 4, "6": 28 * 9, "7": 30 * 12, "claims": 17, "claims-sets": 24,
    },
    "colombo2023": {"fig2": 6, "claims": 2, "claims-prediction": 7, "data": 3},
    "novikova2017": {
        "1": 13, "2": 3 * 6 * 2, "3": 3 * 6 * 2, "4": 11 * 12, "5": 4 * 3, "6": 2, "7": 18, "8": 24 * 6 * 2,
        "9": 21 * 6 * 3 - 21, "10": 21 * 3 * 3, "11": 21 * 3 * 3, "12": 13 * 12 - 10, "13": 11 * 2 * 3,
        "14": 20 * 2 * 3, "text": 9,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    return ledger.read(LEDGER)


def test_each_table_has_as_many_cells_as_the_paper_prints(rows: list[dict[str, str]]) -> None:
    counted = {(p, t): n for p, tables in BY_HAND.items() for t, n in tables.items()}
    assert Counter((r["paper"], r["table"]) for r in rows) == counted
    assert len(rows) == sum(counted.values()) == 4859
    assert len({(r["paper"], r["table"], r["key"]) for r in rows}) == len(rows)
    assert {(s.paper, s.table) for s in studies() if not s.further} == set(counted)


def test_a_verdict_is_a_known_one_with_evidence_and_a_line(rows: list[dict[str, str]]) -> None:
    files = {
        f: (PAPERS / f).read_text(encoding="utf-8").splitlines() for f in {r["source"].split(":")[0] for r in rows}
    }
    for r in rows:
        assert r["verdict"] in VERDICTS
        assert r["evidence"]
        file, _, line = r["source"].partition(":")
        assert r["printed"] in files[file][int(line) - 1]
        assert not re.search(r"/(tmp|work|home|root)/", r["evidence"])


def test_what_was_released_is_not_called_unpublished(rows: list[dict[str, str]]) -> None:
    """Not published: random draws, one training of deng2021, CTC on CtrlEval-Topic; the other scores were."""
    never = Counter((r["paper"], r["table"]) for r in rows if r["verdict"] == ledger.NEVER)
    unpublished = {("novikova2017", "12"): 12, ("deng2021", "A.1"): 1, ("nimah2023", "5"): 1, ("nimah2023", "6"): 1}
    assert never == unpublished
    needed = {r["needs"] for r in rows if r["paper"] == "gao2025" and r["table"] in ("2", "3", "7")}
    assert needed == {"browser gao2025-scores"}


def test_tiers_add_up(rows: list[dict[str, str]]) -> None:
    found = ledger.tiers(rows)
    assert sum(found.values()) == len(rows)
    assert found["none"] == sum(r["verdict"] in (ledger.NEVER, ledger.NOTHING) for r in rows)
