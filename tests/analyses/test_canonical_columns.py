"""Every analysis gives a table for machines: columns in plain words, a number, a name or a reason in each cell."""

from __future__ import annotations

import json
import re

import pytest
from metamorphic_data import table_of as table

from nlgauge import registry

ANALYSES = registry.names("analysis")
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Strings made for the eye: a number with a sign or a unit, an interval, Greek, a mark.
FOR_EYES = re.compile(r"^[-+.]?\d*\.\d+\D|^\d+ ?%|\[[-.\d]+[ ,]+[-.\d]+\]|[α-ωΑ-Ω†*↓↑–]|…$")
TYPES = {
    "metric": str,
    "aspect": str,
    "measure": str,
    "reason": str,
    "value": (int, float),
    "low": (int, float),
    "high": (int, float),
    "p": (int, float),
    "n": int,
}


@pytest.mark.parametrize("name", ANALYSES)
def test_columns_are_called_in_snake_case(name):
    assert [c for c in table(name).columns if not NAME.fullmatch(c)] == []


@pytest.mark.parametrize("name", ANALYSES)
def test_a_cell_holds_a_number_a_bool_a_name_or_nothing(name):
    for row in table(name):
        for column, value in row.items():
            assert value is None or isinstance(value, bool | int | float | str), (column, value)
            assert not (isinstance(value, str) and FOR_EYES.search(value)), (column, value)


@pytest.mark.parametrize("name", ANALYSES)
def test_canonical_columns_hold_what_their_names_say(name):
    for row in table(name):
        for column, kind in TYPES.items():
            value = row.get(column)
            assert value is None or (isinstance(value, kind) and not isinstance(value, bool)), (column, value)
        if (
            isinstance(row.get("value"), float)
            and isinstance(row.get("low"), float)
            and isinstance(row.get("high"), float)
        ):
            assert not row["low"] > row["high"], row


@pytest.mark.parametrize("name", ANALYSES)
def test_people_read_words_and_machines_read_the_same_rows(name):
    found = table(name)
    header, body = found.grid()
    if found.layout is None:  # the columns of a layout are names of metrics, parts or measures
        assert all("_" not in head or head in found.heads.values() for head in header), header
    assert len(body) and all(len(line) == len(header) for line in body)
    read = json.loads(found.to_json())
    assert len(read["rows"]) == len(found)
    assert found.to_polars().columns == found.columns
