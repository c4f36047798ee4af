"""The printed values of the papers, read a second time: what published/*.csv holds is extracted anew from the papers'
texts (NLGAUGE_PAPERS, else the folder `papers` beside NLGAUGE_DATA) and compared cell by cell, in order.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nlgauge_papers import published_rows

pytestmark = pytest.mark.real
FILES = {"nimah2023": "000", "deng2021": "001", "gao2025": "002", "novikova2017": "004"}
NUMBER = r"-?\d*\.\d{1,4}(?!\d)"
# Text and file hold the same numbers in the same order.
ORDERED = {
    "nimah2023": ["5", "6", "17", "18", "19", "20", "21", "22"],
    "deng2021": ["D.2", "D.3", "F.5"],
    "novikova2017": ["2", "8", "10", "11", "12", "13", "14"],
}
# The same numbers, as often, but the columns of a page come one after the other in the text.
SAME = {"deng2021": ["D.1", "D.4", "E.1", "F.1", "F.2", "F.3", "F.4", "F.6"], "gao2025": ["3", "7"]}


@pytest.fixture(scope="module")
def folder(real_data: Path) -> Path:
    found = Path(os.environ.get("NLGAUGE_PAPERS") or real_data.parent / "papers")
    if not found.is_dir():
        pytest.skip("no texts of the papers: NLGAUGE_PAPERS names their folder")
    return found


def lines_of(folder: Path, paper: str, table: str) -> list[str]:
    """The lines between the caption of the table before and that of this one, which stands below its table."""
    text = next(folder.glob(f"{FILES[paper]}_*.txt")).read_text(encoding="utf-8").splitlines()
    captions = [(i, m[1]) for i, line in enumerate(text) if (m := re.search(r"Table ([0-9A-F]+(?:\.\d+)?):", line))]
    at = [name for _, name in captions].index(table)
    end = captions[at][0]
    return [*text[captions[at - 1][0] + 1 if at else 0 : end], text[end].split(f"Table {table}:")[0]]


def plain(text: str) -> str:
    """Without marks of significance and of type-setting."""
    text = re.sub(r"\^\{[^}]*\}|\\(bar|overline)|[{}$^*]", "", text.replace("−", "-").replace("–", "-"))
    return text.replace("\\", "")


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(NUMBER, plain(text))]


def printed(paper: str, table: str) -> list[float]:
    return [float(row["printed"].replace("−", "-").replace(",", "")) for row in published_rows(paper, table)]


@pytest.mark.parametrize(("paper", "table"), [(p, t) for p, tables in ORDERED.items() for t in tables])
def test_the_numbers_of_the_table_stand_in_the_text_in_the_same_order(folder: Path, paper: str, table: str) -> None:
    found, held = numbers("\n".join(lines_of(folder, paper, table))), printed(paper, table)
    assert any(found[i : i + len(held)] == held for i in range(len(found) - len(held) + 1))


@pytest.mark.parametrize(("paper", "table"), [(p, t) for p, tables in SAME.items() for t in tables])
def test_the_text_of_the_table_holds_exactly_these_numbers(folder: Path, paper: str, table: str) -> None:
    found = Counter(numbers("\n".join(lines_of(folder, paper, table))))
    decimals = Counter(
        v for v, row in zip(printed(paper, table), published_rows(paper, table), strict=True) if "." in row["printed"]
    )
    assert not decimals - found
    assert not {v: n for v, n in (found - decimals).items() if len(f"{v:g}") > 4}


@pytest.mark.parametrize(("table", "shape"), [("1", (4, 3)), ("2", (3, 3))])
def test_the_ablations_of_deng2021_are_the_columns_of_the_text(
    folder: Path, table: str, shape: tuple[int, int]
) -> None:
    found = np.array(numbers("\n".join(lines_of(folder, "deng2021", table)))[-shape[0] * shape[1] :]).reshape(shape)
    assert found.T.ravel().tolist() == printed("deng2021", table)


def test_table_3_of_deng2021_has_mean_by_rows_and_sum_by_columns(folder: Path) -> None:
    found = np.array(numbers("\n".join(lines_of(folder, "deng2021", "3")))[-12:])
    mean, total = found[:6].reshape(2, 3).T, found[6:].reshape(3, 2)  # E, D, R × PersonaChat, TopicalChat
    assert np.hstack([mean, total]).ravel().tolist() == printed("deng2021", "3")


def test_table_2_of_nimah2023_line_by_line(folder: Path) -> None:
    found = {c[2]: c[3] for line in lines_of(folder, "nimah2023", "2") if len(c := line.split("\t")) > 4}
    assert {row["data"]: row["printed"] for row in published_rows("nimah2023", "2")}.items() <= found.items()


ARTICLES = {"7": [("Merson", "M12"), ("Merson", "M23"), ("Merson", "M11")],
            "8": [("Varvara", "M20"), ("Varvara", "M8"), ("Henderson", "M11"), ("Henderson", "M8")]}  # fmt: skip


@pytest.mark.parametrize("table", ARTICLES)
def test_the_scores_of_single_outputs_stand_beside_their_names(folder: Path, table: str) -> None:
    """Tables 7 and 8: a system's line and those that go on with it, column by column, then `Name: value`."""
    systems: list[list[str]] = []
    for line in lines_of(folder, "nimah2023", table):
        cells = line.split("\t")
        if re.fullmatch(r"M\d+", cells[0]):
            systems.append([""] * 10)
        elif cells[0] or len(cells) < 3:  # sources, references: below the outputs
            continue
        for k, cell in enumerate([*cells[:9], " ".join(cells[9:])] if systems else []):
            systems[-1][k] += f" {cell}"
    found: dict[tuple[str, str, str], str] = {}
    for key, cells in zip(ARTICLES[table], systems, strict=True):
        _, _, human, perplexity, bleu, rouge, bertscore, ctc, ctrleval, unieval = cells
        found |= {
            (*key, n): v.strip()
            for n, v in zip(
                ("Perplexity", "BLEU", "ROUGE", "BERTScore"), (perplexity, bleu, rouge, bertscore), strict=True
            )
        }
        for prefix, text in (("Human ", human), ("CTC ", ctc), ("CtrlEval ", ctrleval), ("UniEval ", unieval)):
            joined = re.sub(r"- |\(-\)", lambda m: "" if m[0] == "- " else "-", text)
            for name, value in re.findall(r"([A-Z][\w-]*):\s*(-?\d+(?:\.\s*\d+)?)", joined):
                found[(*key, prefix + name)] = value.replace(" ", "")
    for row in published_rows("nimah2023", table):
        cell = row["article"], row["system"], row["score"]
        assert float(found[cell]) == float(row["printed"].replace("−", "-")), cell


@pytest.mark.parametrize("table", ["10", "11", "12", "13", "14", "15", "16"])
def test_the_pairs_of_systems_stand_in_their_columns(folder: Path, table: str) -> None:
    columns: dict[str, str] = {"Easy": "", "Hard": ""}
    where = ""
    found = []
    for line in lines_of(folder, "nimah2023", table):
        cells = [*line.split("\t"), "", "", ""]
        for group, cell in zip(columns, cells[1:3], strict=True):
            # A word cut at the end of a line goes on in the next; other lines are joined by a space.
            columns[group] = columns[group][:-1] if columns[group].endswith("-") else f"{columns[group]} "
            columns[group] += cell.strip()
        if table == "10" and cells[0].endswith("-Topic"):
            where = cells[0]
        if table == "10":
            found += [(where, g, *p) for g, c in zip(columns, cells[1:3], strict=True) for p in pairs(c)]
    rows = published_rows("nimah2023", table)
    if table == "14":  # garbled: the first pair has lost its beginning, and the columns are mixed up
        whole = "".join(columns.values()).replace(" 0.3)', 'New", " ('Nucleus Decoding (p = 0.3)', 'New")
        found = [(r["data"], r["difficulty"], *p) for r, p in zip(rows, pairs(whole), strict=True)]
    elif table != "10":
        found = [(rows[0]["data"], group, *pair) for group, text in columns.items() for pair in pairs(text)]
    assert sorted(found) == sorted((r["data"], r["difficulty"], r["a"], r["b"]) for r in rows)


def pairs(text: str) -> list[tuple[str, str]]:
    return re.findall(r"\('([^']+)',\s*'([^']+)'\)", text)


def test_table_9_of_novikova2017_row_by_row(folder: Path) -> None:
    """The page stands on its side: the last row of the text is the first, with the names of the metrics below it."""
    cells = [line.replace(").", "\t).").split("\t") for line in lines_of(folder, "novikova2017", "9")]
    wide = [c for c in cells if len(c) > 20 and "TER" not in c]
    rows = [c[3:24] for c in reversed(wide) if any(re.search(r"\d", cell) for cell in c[3:24])]
    ours: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for r in published_rows("novikova2017", "9"):
        ours.setdefault((r["dataset"], r["system"], r["aspect"]), []).append((r["printed"], r["mark"]))
    assert len(rows) == len(ours) == 17  # of 18: SFREST, LOLS, naturalness is lost
    for place, row in zip(ours, rows, strict=True):
        found = []
        for cell in row:
            mark = "*" if "*" in cell else ""
            value = re.sub(r"^\)\.|^7\.", "0.", plain(cell))  # digits cut at the edge of the page
            found.append((re.sub(r"^\.0\.", "-0.", value), mark))
        assert found == ours[place], place
