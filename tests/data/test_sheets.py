"""Excel files are read like any table; several filled sheets, bombs and a missing package are one clear line."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import DataError, NeedsMissing

ROWS: list[list[object]] = [
    ["system", "doc_id", "output", "coherence", "bleu", "ok"],
    ["A", 1, "eins", 4, 0.403, True],
    ["A", 2, "zwei", 5, 0.5, False],
    ["B", 1, "drei", 2, 0.1, True],
    ["B", 2, "vier, fünf", 3, None, False],
]
TYPES = "http://schemas.openxmlformats.org"


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    """The least that is an .xlsx file: inline texts, numbers and booleans."""
    names = list(sheets)
    refs = "".join(f'<sheet name="{n}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(names, 1))
    rels = "".join(
        f'<Relationship Id="r{i}" Type="{TYPES}/officeDocument/2006/relationships/worksheet" '
        f'Target="worksheets/s{i}.xml"/>'
        for i in range(1, len(names) + 1)
    )
    package = f"{TYPES}/package/2006"
    main = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="{main}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/s{i}.xml" ContentType="{main}.worksheet+xml"/>'
            for i in range(1, len(names) + 1)
        )
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{TYPES}/officeDocument/2006/relationships/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{TYPES}/spreadsheetml/2006/main" '
        f'xmlns:r="{TYPES}/officeDocument/2006/relationships"><sheets>{refs}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{rels}</Relationships>',
    }
    for i, rows in enumerate(sheets.values(), 1):
        body = "".join(
            f'<row r="{r}">' + "".join(_cell(f"{chr(65 + c)}{r}", v) for c, v in enumerate(row)) + "</row>"
            for r, row in enumerate(rows, 1)
        )
        parts[f"xl/worksheets/s{i}.xml"] = (
            f'<worksheet xmlns="{TYPES}/spreadsheetml/2006/main"><sheetData>{body}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return path


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def test_an_excel_file_is_read_like_a_csv(tmp_path: Path) -> None:
    data = ng.load(workbook(tmp_path / "mine.xlsx", Sheet1=ROWS))
    assert (data.systems, data.inputs, data.aspects, data.metrics) == (["A", "B"], ["1", "2"], ["coherence"], ["bleu"])
    np.testing.assert_array_equal(data.panel().human, [[4, 5], [2, 3]])
    np.testing.assert_array_equal(data.panel().metrics["bleu"], [[0.403, 0.5], [0.1, np.nan]])
    assert data.samples["output"].to_list()[-1] == "vier, fünf"
    assert any("not used: 'ok' (true = 1, false = 0" in note for note in data.notes)


def test_blank_rows_and_empty_sheets_do_not_count_and_lines_are_right(tmp_path: Path) -> None:
    shifted: list[list[object]] = [
        [None],
        [None, *ROWS[0]],
        *([None, *row] for row in ROWS[1:3]),
        [None],
        [None, "B", 1, "x", "four", 0.1],
    ]
    path = workbook(tmp_path / "mine.xlsx", notes=[], ratings=shifted)
    with pytest.raises(DataError, match=r"row 6, column 'coherence': found 'four'"):
        ng.load(path, human="coherence")
    shifted[-1][4] = 4
    data = ng.load(workbook(path, notes=[], ratings=shifted))
    assert len(data) == 3
    assert "sheet 'ratings' of notes, ratings" in data.notes


def test_of_several_filled_sheets_one_must_be_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "mine.xlsx", June=ROWS[:3], May=ROWS)
    with pytest.raises(
        DataError, match=r"2 sheets with data: 'June' \(3 rows\), 'May' \(5 rows\); choose one with sheet='May'"
    ):
        ng.load(path)
    assert len(ng.load(path, sheet="June")) == 2
    with pytest.raises(DataError, match=r"no sheet 'july'. Sheets: June, May"):
        ng.load(path, sheet="july")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["system", "bleu", "bleu"], ["A", 1, 2]], "two columns have the name 'bleu'"),
        ([["system", "bleu"]], "no rows"),
        ([["system", None, "bleu"], ["A", 1, 2]], "column 2 has no name"),
        ([], "every sheet is empty"),
    ],
)
def test_bad_sheets_are_one_clear_line(tmp_path: Path, rows: list[list[object]], words: str) -> None:
    with pytest.raises(DataError, match=words) as error:
        ng.load(workbook(tmp_path / "mine.xlsx", Sheet1=rows))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("raw", [b"PK\x03\x04 torn", b"no workbook", b"PK\x03\x04" + b"\0" * 60])
def test_a_damaged_workbook_is_one_clear_line(tmp_path: Path, raw: bytes) -> None:
    (path := tmp_path / "mine.xlsx").write_bytes(raw)
    with pytest.raises(DataError, match="workbook"):
        ng.load(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "mine.xlsx", Sheet1=ROWS)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", b"\0" * (80 << 20))
    with pytest.raises(DataError, match="decompression bomb"):
        ng.load(path)


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[excel\]"'):
        ng.load(workbook(tmp_path / "mine.xlsx", Sheet1=ROWS))


def test_a_sheet_is_asked_of_excel_files_only(tmp_path: Path) -> None:
    (path := tmp_path / "mine.csv").write_text("system,input,coherence\nA,1,2\n")
    with pytest.raises(DataError, match="sheet= is for Excel files"):
        ng.load(path, sheet="May")
