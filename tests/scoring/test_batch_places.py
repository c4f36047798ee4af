"""A batch can be read from its place in the file alone, as a worker of a cluster does."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from test_stream import rows, write

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.table_batches import TableFile


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "parquet", "jsonl.gz", "csv.gz"])
@pytest.mark.parametrize("block", [400, 1 << 22])
def test_a_batch_can_be_read_from_its_place_alone(
    tmp_path: Path, suffix: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nlgauge.scoring.table_batches.BLOCK", block)
    path = write(tmp_path / f"x.{suffix.removesuffix('.gz')}", rows(23))
    if suffix.endswith("gz"):
        packed = tmp_path / f"x.{suffix}"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    elif suffix == "jsonl":  # blank lines, ends of another system, a mark in front, letters of three bytes
        path.write_bytes(b"\xef\xbb\xbf\n" + path.read_bytes().replace(b"\n", b"\r\n\r\n"))
    elif suffix == "csv":
        path.write_text(path.read_text(), encoding="utf-16", newline="\r\n")
    source = TableFile(path)
    batches = list(source.batches(4))
    assert [batch.place.first for batch in batches] == list(range(1, 24, 4))
    for batch in reversed(batches):
        alone = next(source.batches(4, None, batch.place))
        assert alone.json_lines() == batch.json_lines()
        assert [(p.number, p.first, p.line) for p in (alone.place, batch.place)] == [
            (batch.place.number, batch.place.first, batch.place.line)
        ] * 2


def test_a_bad_line_has_its_number_also_when_the_file_is_read_from_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('output,n\n"a\nb",1\n\nc,1\nd,1\n"e\n",1\nf,1,2\n')
    first, second = [], []
    with pytest.raises(NlgaugeError) as whole:
        for batch in TableFile(path).batches(1):
            first.append(batch.place)
    path.write_text('output,n\n"a\nb",1\n\nc,1\nd,1\n"e\n",1\nf,1\n')
    places = [batch.place for batch in TableFile(path).batches(1)]
    path.write_text('output,n\n"a\nb",1\n\nc,1\nd,1\n"e\n",1\nf,1,2\n')
    with pytest.raises(NlgaugeError) as middle:
        second = list(TableFile(path).batches(1, None, places[3]))
    assert (first, second) == (places[:4], [])  # what is before it can be scored
    assert "line 9: found 3 fields" in str(whole.value)
    assert str(middle.value) == str(whole.value)
