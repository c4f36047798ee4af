"""Targets: tables read and scored in batches, and the folders that unfinished runs leave behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.contract import Target, check, refused
from fuzz.readers import SAMPLES, parquet, scratch
from nlgauge.scoring.stream import stream
from nlgauge.scoring.table_batches import BatchPlace, TableFile

METRICS = ["len", "rouge-1"]
OWN = {
    "csv": b'system,input,output,reference\nA,1,"a, b",a b\nB,1,a ""b""\n\nA,2,"x\ny",x\nB,2,,z\n'.replace(
        b'""b""', b"b,c"
    ),
    "tsv": b'system\tinput\toutput\treference\nA\t1\ta "b\ta b\nB\t1\tb\tc\nA\t2\tx y\tx\nB\t2\t\tz\n',
    "jsonl": b"".join(
        json.dumps(
            {"system": s, "input": i, "output": f"{s} said {i}", "references": ["he said 1", "she"][:i]}
        ).encode()
        + b"\n"
        for i in (1, 2)
        for s in "AB"
    ),
    "parquet": b"",
}


def targets() -> Iterator[Target]:
    for kind, own in OWN.items():
        samples = [p.read_bytes() for p in sorted(SAMPLES.glob(f"*.{kind}"))]
        seeds = [parquet()] if kind == "parquet" else [own, own.replace(b"\n", b"\r\n"), *samples]
        yield Target(f"batches-{kind}", cuts(f".{kind}"), seeds, weight=8)
        yield Target(f"stream-{kind}", scores(f".{kind}"), [parquet()] if kind == "parquet" else [own], weight=2)
    yield Target("parts", resumes, folder_seeds(), weight=1)


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


def same(a: list[Any], b: list[Any]) -> bool:
    return repr(a) == repr(b)  # NaN is itself here


def fresh(name: str) -> Path:
    """A file that is not there, and nothing of an earlier run beside it."""
    out = scratch() / name
    out.unlink(missing_ok=True)
    shutil.rmtree(scratch() / f"{name}.parts", ignore_errors=True)
    return out


# --- folders of runs: the first byte says which file of the folder the rest takes the place of ---


class _Stop(BaseException):
    """Ends a run after its first batch."""


@cache
def unfinished_run() -> tuple[Path, Path, dict[str, bytes]]:
    """Return the input, the output and the kept files of a run of two batches, the second of which is missing."""

    def stop(*_: int) -> None:
        raise _Stop

    path, out = scratch() / "parts.jsonl", fresh("parts.csv")
    path.write_bytes(OWN["jsonl"])
    with suppress(_Stop):
        stream(path, METRICS, out, batch=2, progress=stop)
    folder = out.with_name(f"{out.name}.parts")
    return path, out, {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def folder_seeds() -> list[bytes]:
    return [bytes([i]) + content for i, content in enumerate(unfinished_run()[2].values())]


def resumes(data: bytes) -> None:
    """A run continues from a folder in which one file was replaced."""
    path, out, files = unfinished_run()
    folder = fresh(out.name).with_name(f"{out.name}.parts")
    folder.mkdir()
    bad = list(files)[data[0] % len(files) if data else 0]
    for name, content in files.items():
        (folder / name).write_bytes(data[1:] if name == bad else content)
    done = refused(lambda: stream(path, METRICS, out, batch=2))
    check(done is None or (done.rows == 4 and out.exists()), "a run that says it is done, and is not")
