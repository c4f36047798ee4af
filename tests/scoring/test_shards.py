"""Shards of one run: what they leave is joined to what a run in one piece writes, and nothing else is."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_stream import METRICS, rows, write

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.shards import Shard, merge
from nlgauge.scoring.stream import stream
from nlgauge.scoring.table_batches import TableFile
from nlgauge.table import Table


def without_seconds(table: Table) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in table.rows]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "csv", "parquet"])
def test_merged_shards_are_the_run_in_one_piece(tmp_path: Path, suffix: str, shards: int) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    whole = stream(path, METRICS, tmp_path / f"whole.{suffix}", batch=9)
    out = tmp_path / f"scores.{suffix}"
    left = [stream(path, METRICS, out, batch=9, shard=Shard(i, shards)) for i in range(shards, 0, -1)]
    assert sum(each.rows for each in left) == 40
    assert [each.scored for each in left] == [len(range(i - 1, 5, shards)) for i in range(shards, 0, -1)]
    assert not out.exists()
    joined = merge([out])
    if suffix == "parquet":
        assert pl.read_parquet(out).equals(pl.read_parquet(tmp_path / "whole.parquet"))
    else:
        opened: Any = gzip.open if suffix.endswith("gz") else open
        with opened(out) as mine, opened(tmp_path / f"whole.{suffix}") as other:
            assert mine.read() == other.read()
    assert joined.groups.to_dict() == whole.groups.to_dict()
    assert without_seconds(joined.table) == without_seconds(whole.table)
    assert joined.table.notes == whole.table.notes
    assert not list(tmp_path.glob("*.parts"))


def test_shards_on_disks_of_their_own_are_merged_from_their_places(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.csv", rows())
    stream(path, METRICS, tmp_path / "whole.csv", batch=9)
    outs = [tmp_path / str(i) / "scores.csv" for i in (1, 2, 3)]
    for i, out in enumerate(outs, 1):
        stream(path, METRICS, out, batch=9, shard=Shard(i, 3))
    with pytest.raises(NlgaugeError, match="say with -o which file to write"):
        merge(outs)
    with pytest.raises(NlgaugeError, match=r"shard 2 of 3 is not finished \(2 of 5 batches are missing\)"):
        merge(outs[::2], tmp_path / "scores.csv")
    assert merge(outs, tmp_path / "scores.csv").rows == 40
    assert (tmp_path / "scores.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not list(tmp_path.rglob("*.parts"))


def test_missing_shards_are_named_and_come_later(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    out = tmp_path / "scores.csv"
    with pytest.raises(NlgaugeError, match=r"scores\.csv\.parts: no such folder"):
        merge([out])
    stream(path, METRICS, out, batch=4, shard=Shard(2, 4))
    with pytest.raises(NlgaugeError, match=r"shards 1, 3, 4 of 4 are not finished \(7 of 10 batches are missing\)"):
        merge([out])
    (out.with_name("scores.csv.parts") / "000001.csv").unlink()
    with pytest.raises(NlgaugeError, match=r"shards 1, 2, 3, 4 of 4 are not finished"):
        merge([out])
    # whatever is not there is done by a run in one piece, too
    assert stream(path, METRICS, out, batch=4).resumed == 2
    assert len(pl.read_csv(out)) == 40


@pytest.mark.parametrize(
    ("change", "other"),
    [({"batch": 5}, "batch"), ({"metrics": ["len"]}, "metrics"), ({"by": "input"}, "by"), ({"touch": 1}, "changed")],
)  # fmt: skip
def test_shards_of_different_runs_are_refused(tmp_path: Path, change: dict[str, Any], other: str) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    said: dict[str, Any] = {"metrics": METRICS, "batch": 4, **change}
    stream(path, METRICS, tmp_path / "a.csv", batch=4, shard=Shard(1, 2))
    if said.pop("touch", 0):
        write(path, rows())
    with pytest.raises(NlgaugeError, match=rf"a\.csv\.parts: is left from another run \(other {other}\)"):
        stream(path, out=tmp_path / "a.csv", shard=Shard(2, 2), **said)
    stream(path, out=tmp_path / "b.csv", shard=Shard(2, 2), **said)
    with pytest.raises(NlgaugeError, match=rf"are of different runs \(other {other}\)"):
        merge([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "c.csv")


def test_a_batch_of_another_run_in_the_folder_is_not_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    for name, metrics in (("a.csv", ["len"]), ("b.csv", ["wps"])):
        stream(path, metrics, tmp_path / name, batch=20, shard=Shard(1, 2))
    for file in ("000000.csv", "000000.json"):
        (tmp_path / "b.csv.parts" / file).replace(tmp_path / "a.csv.parts" / file)
    with pytest.raises(NlgaugeError, match="shards 1, 2 of 2 are not finished"):
        merge([tmp_path / "a.csv"])


def test_a_mark_that_a_crash_has_cut_off_is_no_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    out = tmp_path / "scores.csv"
    stream(path, METRICS, out, batch=10, shard=Shard(1, 1))
    mark = tmp_path / "scores.csv.parts" / "000002.json"
    mark.write_bytes(mark.read_bytes()[:50])
    with pytest.raises(NlgaugeError, match=r"1 of 4 batches are missing"):
        merge([out])
    assert stream(path, METRICS, out, batch=10).resumed == 3


@pytest.mark.parametrize("text", ["0/8", "9/8", "1/0"])
def test_a_number_that_does_not_count_from_one_is_answered(text: str) -> None:
    with pytest.raises(NlgaugeError, match=rf"--shard {text}: shards count from 1"):
        Shard.parse(text)


@pytest.mark.parametrize("text", ["3", "/8", "a/b", "1/2/3", "-1/8", "١/٨"])
def test_what_is_no_shard_is_answered(text: str) -> None:
    with pytest.raises(NlgaugeError, match="write which of how many, as in 3/8"):
        Shard.parse(text)


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


def test_the_commands_of_a_batch_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from nlgauge.cli import build

    write(tmp_path / "outputs.jsonl", rows())
    monkeypatch.chdir(tmp_path)

    def nlgauge(*words: str) -> tuple[str, str]:
        build(words[0])(list(words), standalone_mode=False)
        found = capsys.readouterr()
        return found.out, found.err

    score = ("score", "outputs.jsonl", "-m", "bleu,ter", "--batch", "7")
    whole, _ = nlgauge(*score, "-o", "whole.csv", "-f", "json")
    shown, told = nlgauge(*score, "-o", "scores.csv", "--shard", "1/2")
    assert shown == ""
    assert "shard 1/2, 3 of 6 batches of 7 (21 rows)" in told
    assert "when all 2 shards are done: nlgauge merge scores.csv" in told
    early = subprocess.run(
        [sys.executable, "-m", "nlgauge", "merge", "scores.csv"], capture_output=True, check=False, text=True,
        timeout=300
    )  # fmt: skip
    assert (early.returncode, early.stdout) == (2, "")
    assert early.stderr == (
        "nlgauge: scores.csv: shard 2 of 2 is not finished (3 of 6 batches are missing); run it again, then merge.\n"
    )
    nlgauge(*score, "-o", "scores.csv", "--shard", "2/2")
    joined, told = nlgauge("merge", "scores.csv", "-f", "json")
    assert "written: scores.csv" in told
    assert (tmp_path / "scores.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    mine, theirs = (json.loads(text)["tables"][1] for text in (joined, whole))
    assert mine == theirs
