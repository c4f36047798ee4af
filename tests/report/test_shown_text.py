"""Foreign text is cut visibly, turning signs are seen, and JSON is safe inside a script element."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.foreign_text import cut, for_script, visible, with_code
from nlgauge.number import interval
from nlgauge.report.page import render
from nlgauge.report.views import Views
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
    (packed,) = re.findall(r'id="data">(.*?)</script>', html)
    assert (
        "1,034 more rows are in the results file."
        in gzip.decompress(base64.b85decode(packed.replace(",", "<"))).decode()
    )


def test_backticks_become_code_and_nothing_inside_them_becomes_markup() -> None:
    assert with_code("`<b>` & `x` ` alone \u202e") == ("<code>&lt;b&gt;</code> &amp; <code>x</code> ` alone ⟦U+202E⟧")


def test_intervals_of_a_column_get_bars_on_one_scale() -> None:
    rows = [{"metric": m, "value": v, "low": v - 0.1, "high": v + 0.1} for m, v in (("a", 0.5), ("b", 0.3))]
    cells = {"value": lambda r: f"good {interval(r['value'], r.get('low'), r.get('high'), 2)}"}
    view = Views().table(Table("t", [*rows, {"metric": "c", "value": 0.2}], shown=["metric", "value"], cells=cells))
    assert [row[1].bar for row in view.rows] == [(50.0, 50.0, 75.0), (0.0, 50.0, 25.0), None]


def test_the_page_leaves_out_the_name_of_its_own_data_set_and_keeps_that_of_another() -> None:
    table = Table(Title("a.csv", "means of the systems"), [{"metric": "b", "value": 1.0}])
    assert Views("a.csv").table(table).title == "Means of the systems"
    assert Views("b.csv").table(table).title == "A.csv: means of the systems"
