"""Foreign text is cut visibly, turning signs are seen, and JSON is safe inside a script element."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.foreign_text import cut, for_script, visible, with_code
from nlgauge.report.page import render
from nlgauge.report.views import cell_text, grid_of, title_of
from nlgauge.table import Table, Title


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_json_in_a_script_holds_no_tag_and_stays_json(value: object) -> None:
    text = for_script(value)
    assert not set(text) & set("<>&")
    assert text.isascii()
    json.loads(text)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\x00", "\u200f", "\x1b"])
def test_signs_that_turn_or_break_are_made_visible(sign: str) -> None:
    assert visible(f"a{sign}b") == f"a⟦U+{ord(sign):04X}⟧b"


def test_right_to_left_writing_itself_is_left_alone() -> None:
    assert visible("שלום عالم") == "שלום عالم"


def test_a_megabyte_is_cut_with_its_count() -> None:
    assert cut("x" * 1_000_000, 1500).endswith("x … (998,500 more characters)")


def test_not_a_number_is_null_in_json() -> None:
    assert for_script({"v": [float("nan"), float("inf"), 1.5]}) == '{"v":[null,null,1.5]}'


def test_long_tables_say_how_many_rows_are_elsewhere() -> None:
    html = render("d", [], [Table("t", [{"a": k} for k in range(1234)])])
    assert "1,204 more rows are in the results file." in html and html.count('<th scope="row"') == 30


def test_backticks_become_code_and_nothing_inside_them_becomes_markup() -> None:
    assert with_code("`<b>` & `x` ` alone \u202e") == ("<code>&lt;b&gt;</code> &amp; <code>x</code> ` alone ⟦U+202E⟧")


def test_cells_are_shown_as_the_table_prints_them() -> None:
    rows = [{"metric": ".5b-model", "value": 0.5, "p": 0.0001}]
    cells = {"value": lambda r: "0.50 [0.25, 0.75] a"}
    (shown,) = grid_of(Table("t", rows, shown=["metric", "value", "p"], cells=cells)).rows
    assert [cell_text(cell) for cell in shown] == [".5b-model", "0.50 [0.25, 0.75] a", "<.001"]


def test_the_page_leaves_out_the_name_of_its_own_data_set_and_keeps_that_of_another() -> None:
    table = Table(Title("a.csv", "means of the systems"), [{"metric": "b", "value": 1.0}])
    assert title_of(table, "a.csv") == "Means of the systems"
    assert title_of(table, "b.csv") == "A.csv: means of the systems"
