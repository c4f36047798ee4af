"""Targets: every reader, and load() when it has to find the reader itself."""

from __future__ import annotations

import gzip
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from fuzz.contract import Target, check, refused
from nlgauge import registry
from nlgauge.data.check import check as look
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.data.peek import Peek

SAMPLES = Path(__file__).resolve().parent.parent / "tests" / "data" / "samples"
FOLDER = "wmt99"  # the sample of mt-metrics-eval
KINDS = ("csv", "tsv", "jsonl", "json", "parquet")
# Words, commas, raters in columns, scales in headings, inf, blanks: what a plain table may hold beside plain numbers.
TABLES = [
    "LLM Name;Prompt ID;Reply;coherence_ann;coherence_bob;bleu;seed\na;1;x;4;5;0,403;1\nb;1;y;2;3;1.234,5;2\na;2;z;1;2;inf;3\n",
    'origin|"Your rating (1-5)"|passed|flag|z_coherence|ter\nA|4|pass|yes|-0.5|85%\nB|2|fail|no|1.5|7%\n',
    'system,doc, fluency ,grade,1st,m\na,1,good,4/5,1,"1,234.5"\nb,1,bad,2/5,,17\na,2,,4/5,?,nan\n',
    "id,system,prompt,human.x,metric.y,coherence,coherence_std\n1,a,p,1,.1,2,0\n2,b,p,2,.2,3,0\n3,a,q,1,.1,2,0\n4,b,q,2,1e999,3,0\n",
]


@cache
def scratch() -> Path:
    """A folder of this process, removed with it."""
    kept = tempfile.TemporaryDirectory(prefix="nlgauge-fuzz-")
    scratch.kept = kept  # type: ignore[attr-defined]
    return Path(kept.name)


def targets() -> Iterator[Target]:
    files = [p for p in sorted(SAMPLES.iterdir()) if p.is_file()]
    seeds = {p: p.read_bytes() for p in files}
    for name in registry.names("reader"):
        known = [p for p in files if registry.get("reader", name).recognizes(Peek(p))]
        if known:
            mine = [seeds[p] for p in known]
            yield Target(f"reader-{name}", reads(known[0].suffix, name), mine, weight=8)
    yield Target("reader-mt-metrics-eval", reads_folder(SAMPLES / FOLDER), folder_seeds(SAMPLES / FOLDER), weight=4)
    for kind in KINDS:
        mine = [parquet()] if kind == "parquet" else [s for p, s in seeds.items() if p.suffix == f".{kind}"]
        mine += [table.encode() for table in TABLES] if kind == "csv" else []
        yield Target(f"table-{kind}", reads(f".{kind}", "table"), mine, weight=8)
    yield Target(
        "check", checks, [*(table.encode() for table in TABLES), *(s for p, s in seeds.items() if p.suffix == ".csv")]
    )
    yield Target("load", reads("", None), list(seeds.values()), weight=8)
    packed = [gzip.compress(s, mtime=0) for s in seeds.values()]
    yield Target("load-gz", reads(".gz", None), packed, weight=4)


def reads(suffix: str, reader: str | None) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        path = scratch() / f"data{suffix}"
        path.write_bytes(data)
        proper(refused(lambda: load(path, reader=reader)))

    return run


def checks(data: bytes) -> None:
    """Every column has a role and a reason, whatever the table holds."""
    path = scratch() / "checked.csv"
    path.write_bytes(data)
    table = refused(lambda: look(path, reader="table"))
    for row in table or ():
        check(bool(row["role"] and row["why"]), "a column without a role or a reason")


def proper(data: Dataset | None) -> None:
    """What was read is whole: outputs there are, ratings and scores belong to them."""
    if data is None:
        return
    check(len(data) > 0, "a Dataset without outputs")
    known = set(data.samples.select("system", "input").iter_rows())
    check(len(known) == data.samples.height, "two outputs of one system and input")
    check(set(data.ratings.select("system", "input").iter_rows()) <= known, "a rating of no output")


def folder_files(folder: Path) -> list[Path]:
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


def folder_seeds(folder: Path) -> list[bytes]:
    """The first byte says which file of the folder the rest takes the place of."""
    return [bytes([i]) + (folder / name).read_bytes() for i, name in enumerate(folder_files(folder))]


def reads_folder(folder: Path) -> Callable[[bytes], None]:
    names = folder_files(folder)

    def run(data: bytes) -> None:
        copied = scratch() / folder.name
        if not copied.exists():
            shutil.copytree(folder, copied)
        changed = names[data[0] % len(names)] if data else names[0]
        (copied / changed).write_bytes(data[1:])
        try:
            proper(refused(lambda: load(copied, reader="mt-metrics-eval", lp="en-de")))
        finally:
            (copied / changed).write_bytes((folder / changed).read_bytes())

    return run


def parquet() -> bytes:
    import polars as pl

    rows = {
        "system": ["A", "A", "B", "B"],
        "input": [1, 2, 1, 2],
        "quality": [1.0, 2.0, 3.0, None],
        "bleu": [0.1, 0.2, 0.3, 0.4],
    }
    rows |= {"output": ["a", "b", "c", "d"], "references": [["x"], ["y", "z"], [], None]}
    out = io.BytesIO()
    pl.DataFrame(rows).write_parquet(out)
    return out.getvalue()
