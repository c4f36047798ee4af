"""Targets: tables read and scored in batches, and the folders that unfinished runs and shards leave behind."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from fuzz.contract import Target, check, refused
from fuzz.readers import SAMPLES, parquet, scratch
from nlgauge.data.large_table import LargeTable
from nlgauge.scoring.shards import Shard, merge
from nlgauge.scoring.stream import stream
from nlgauge.scoring.table_batches import BatchPlace, TableFile

METRICS = ["len", "rouge-1"]
OWN = {
    "csv": b'system,input,output,reference\nA,1,"a, b",a b\nB,1,a ""b""\n\nA,2,"x\ny",x\nB,2,,z\n'.replace(b'""b""',
        b"b,c"),
    "tsv": b'system\tinput\toutput\treference\nA\t1\ta "b\ta b\nB\t1\tb\tc\nA\t2\tx y\tx\nB\t2\t\tz\n',
    "jsonl": b"".join(
        json.dumps({"system": s, "input": i, "output": f"{s} said {i}", "references": ["he said 1",
            "she"][:i]}).encode() + b"\n"
        for i in (1, 2)
        for s in "AB"
    ),
    "parquet": b"",
}  # fmt: skip


def targets() -> Iterator[Target]:
    for kind, own in OWN.items():
        samples = [p.read_bytes() for p in sorted(SAMPLES.glob(f"*.{kind}"))]
        seeds = [parquet()] if kind == "parquet" else [own, own.replace(b"\n", b"\r\n"), *samples]
        yield Target(f"batches-{kind}", cuts(f".{kind}"), seeds, weight=8)
        yield Target(f"stream-{kind}", scores(f".{kind}"), [parquet()] if kind == "parquet" else [own], weight=2)
    yield Target("wide-parquet", columns, [wide_table(), parquet()], weight=4)
    for name, run in (("parts", resumes), ("merge", merges)):
        yield Target(name, run, folder_seeds(name), weight=1)


def rows_of(source: TableFile, size: int) -> list[tuple[BatchPlace, list[Any], list[str]]]:
    return [(rows.place, rows.values("output"), rows.json_lines()) for rows in source.batches(size)]


def cuts(suffix: str) -> Callable[[bytes], None]:
    """However a table is cut, its rows are the same; and a batch can be read from its place without those before it."""

    def run(data: bytes) -> None:
        path = scratch() / f"batches{suffix}"
        path.write_bytes(data)
        whole = refused(lambda: rows_of(TableFile(path), 1000))
        cut = refused(lambda: rows_of(TableFile(path), 3))
        check((whole is None) == (cut is None), "refused or not, by the size of a batch")
        if whole is None or cut is None:
            return
        for k, what in ((1, "values"), (2, "lines")):
            check(
                same([v for b in whole for v in b[k]], [v for b in cut for v in b[k]]), f"other {what} in other batches"
            )
        for place, _, lines in cut[:6]:
            again = next(TableFile(path).batches(3, start=place))
            check(again.place == place and again.json_lines() == lines, f"other rows when read from {place}")

    return run


def scores(suffix: str) -> Callable[[bytes], None]:
    """Scores do not depend on the size of a batch."""

    def run(data: bytes) -> None:
        path = scratch() / f"stream{suffix}"
        path.write_bytes(data)
        found = []
        for size in (2, 1000):
            out = fresh(f"stream-{size}.csv")
            done = refused(lambda size=size, out=out: stream(path, METRICS, out, batch=size))  # type: ignore[misc]
            found.append(None if done is None else out.read_bytes())
        check(found[0] == found[1], "other scores in other batches")

    return run


def columns(data: bytes) -> None:
    """A table of which one column is read at a time."""
    path = scratch() / "wide.parquet"
    path.write_bytes(data)
    wide = refused(lambda: LargeTable.open(path))
    if wide is None:
        return
    for read, names in ((wide.human, wide.humans), (wide.metric, wide.metrics)):
        for name in names:
            found = refused(lambda read=read, name=name: read(name))  # type: ignore[misc]
            if found is not None:
                check(found.shape == (len(wide.grid.systems), len(wide.grid.inputs)), "a table of another shape")


def wide_table() -> bytes:
    rows = {
        "system": ["A", "B", "A", "B"],
        "input": [1, 1, 2, 2],
        "human.q": [1.0, 2.0, None, 4.0],
        "metric.m": [0.1, 0.2, 0.3, None],
    }
    out = io.BytesIO()
    pl.DataFrame(rows).write_parquet(out)
    return out.getvalue()


def same(a: list[Any], b: list[Any]) -> bool:
    return repr(a) == repr(b)  # NaN is itself here


def fresh(name: str) -> Path:
    """A file that is not there, and nothing of an earlier run beside it."""
    out = scratch() / name
    out.unlink(missing_ok=True)
    shutil.rmtree(scratch() / f"{name}.parts", ignore_errors=True)
    return out


# --- folders of runs: the first byte says which file of the folder the rest takes the place of ---


@cache
def whole_folder(name: str) -> tuple[Path, Path, dict[str, bytes]]:
    """A run of two batches, the second of which is missing (parts), or two finished shards (merge); and its files."""
    path, out = scratch() / f"{name}.jsonl", fresh(f"{name}.csv")
    path.write_bytes(OWN["jsonl"])
    for at in (1, 2) if name == "merge" else (1,):
        stream(path, METRICS, out, batch=2, shard=Shard(at, 2))
    folder = out.with_name(f"{out.name}.parts")
    return path, out, {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def folder_seeds(name: str) -> list[bytes]:
    return [bytes([i]) + content for i, content in enumerate(whole_folder(name)[2].values())]


def damaged(name: str, data: bytes) -> tuple[Path, Path]:
    path, out, files = whole_folder(name)
    folder = fresh(out.name).with_name(f"{out.name}.parts")
    folder.mkdir()
    bad = list(files)[data[0] % len(files) if data else 0]
    for each, content in files.items():
        (folder / each).write_bytes(data[1:] if each == bad else content)
    return path, out


def resumes(data: bytes) -> None:
    path, out = damaged("parts", data)
    done = refused(lambda: stream(path, METRICS, out, batch=2))
    check(done is None or (done.rows == 4 and out.exists()), "a run that says it is done, and is not")


def merges(data: bytes) -> None:
    _, out = damaged("merge", data)
    done = refused(lambda: merge([out]))
    check(done is None or out.exists(), "a merge that says it is done, and is not")
