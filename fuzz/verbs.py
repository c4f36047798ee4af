"""Targets: whole verbs on hostile tables, in this process: names that are patterns, brackets, lines, or our own words.

A table is drawn from the case's bytes, so that damage to a case is another table: which names its columns have, how its
rows are keyed, what stands in its cells and in which format it is written.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from fuzz.contract import Target, check, refused
from fuzz.readers import scratch

NAMES = [
    "^a.*$",
    "^.*$",
    "^m1$",
    "$",
    "^",
    "[m",
    "m]",
    "[bold]m[/bold]",
    "{m}",
    "m{0}",
    "%s",
    "*",
    "m*",
    "m.n",
    "m.n.o",
    "a,b",
    'a"b',
    "a'b",
    "a;b",
    "a|b",
    "a\tb",
    "a\nb",
    "a\rb",
    " m ",
    "",
    " ",
    "🙂",
    "é",
    "e\u0301",
    "\u202eabc",
    "\u200b",
    "a\x00b",
    "row",
    "column",
    "value",
    "place",
    "system",
    "input",
    "output",
    "references",
    "metric",
    "aspect",
    "rater",
    "score",
    "human",
    "reason",
    "n",
    "p",
    "low",
    "high",
    "len",
    "count",
    "index",
    "literal",
    "variable",
    "occurrence",
    "__row__",
    "__what__",
    "__many__",
    "__named__",
    "_duplicated_0",
    "m1",
    "M1",
    "m1_right",
    "people:quality",
    "human.quality",
    "metric.m1",
    "metric.^a$",
    "bleu(order=2)",
    "bleu(",
    "x.py@y",
    "judge",
    "../m",
    "C:\\m",
    "nan",
    "NaN",
    "null",
    "True",
    "1",
    "-1",
    "1e5",
    "m" * 300,
    "<script>",
    "&amp;",
    "=1+1",
    "label",
    "winner",
    "preference",
    "item",
    "id",
    "seed",
    "all",
    "mean",
    "std",
    "source",
    "context",
    "control",
    "failures",
    "scores",
    "ratings",
    "nlgauge",
    "comparison",
    "columns",
    "system_right",
    "_lot",
    "_round",
]
CELLS = [
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1e-320",
    "0",
    "-0.0",
    "1",
    "2",
    "3.5",
    "0,5",
    "1.000,5",
    "true",
    "pass",
    "fail",
    "A",
    "🙂",
    "\x00",
    "a\nb",
    '"',
    "[1, 2]",
    '{"a": 1}',
    "=1+1",
    "9" * 40,
    "0x1f",
    "1_000",
    "٣",
    "½",
    "None",
    "N/A",
    "-",
    "5/5",
    "4 stars",
]
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "csv.gz", "jsonl.gz")
VERBS: dict[str, tuple[str, ...]] = {
    "run": ("run", "{file}", "--quick", "-o", "{out}.html"),
    "meta": ("analyze", "correlate", "{file}"),
    "compare": ("analyze", "compare", "{file}", "--draws", "50"),
    "agree": ("analyze", "agreement", "{file}"),
    "stability": ("analyze", "stability", "{file}"),
    "score": ("score", "{file}", "-m", "len,rouge-1,repetition", "-o", "{out}.jsonl"),
    "batch": ("score", "{file}", "-m", "len,rouge-1", "--batch", "3", "-o", "{out}.csv"),
    "judge": ("judge", "{file}", "--aspect", "fluency", "--model", "m", "--base-url", "http://localhost:1/v1",
              "--dry-run"),
    "convert": ("data", "convert", "{file}", "-o", "{out}.jsonl"),
    "convert-wide": ("data", "convert", "{file}", "-o", "{out}.csv"),
    "check": ("data", "check", "{file}"),
    "explore": (),
}  # fmt: skip


def targets() -> Iterator[Target]:
    seeds = [bytes([k, 7 * k % 256, 13 * k % 256]) for k in range(24)]
    for name in VERBS:
        yield Target(f"verb-{name}", verb(name), seeds)


def table(rng: random.Random) -> list[dict[str, Any]]:
    """Systems × inputs with texts, a rated aspect and three metrics, under hostile names and damaged here and there."""
    roles = ("system", "input", "output", "references", "source")
    names = {key: key for key in (*roles, "human.quality", "m1", "m2", "m3")}
    names["m1"] = f"{rng.choice(['', '', 'metric.'])}{rng.choice(NAMES)}"
    if rng.random() < 0.3:  # the roles themselves, which mostly is refused
        names[rng.choice(roles)] = rng.choice(NAMES)
    if rng.random() < 0.4:
        names["human.quality"] = f"human.{rng.choice(NAMES)}"
    more = [rng.choice(NAMES) for _ in range(rng.choice([0, 0, 0, 1, 3]))]
    raters = rng.choice([[], [], ["r1", "r2"]])
    rows = []
    for s, i, rater in product(range(rng.choice([1, 2, 4, 4])), range(rng.choice([1, 2, 5, 8])), raters or [None]):
        row: dict[str, Any] = {
            names["system"]: f"S{s}",
            names["input"]: str(i),
            names["output"]: f"The cat {s} sat on mat {i}.",
            names["references"]: "A cat sat there.",
            names["source"]: f"cat {i}",
            names["human.quality"]: str(rng.randint(1, 5)),
        }
        if rater:
            row["rater"] = rater
        for k in (1, 2, 3):
            row[names[f"m{k}"]] = f"{(7 * s + 3 * i + k * k) % 11 / 11:.3f}"
        for key in more:
            row[key] = rng.choice([f"{rng.random():.2f}", "x y"])
        rows.append(row)
    for _ in range(rng.choice([0, 0, 0, 1, 4])):
        row = rng.choice(rows)
        row[rng.choice(list(row))] = rng.choice(CELLS)
    if rng.random() < 0.1:
        rows += rng.sample(rows, 1)  # a key twice
    if rng.random() < 0.1:
        rows.append({**rows[0], names["m1"]: "0.5"})
    if rng.random() < 0.15:
        for name in rng.sample(list(rows[0]), 2):
            for row in rows:
                row.pop(name, None)
    return rows


def written(rows: list[dict[str, Any]], kind: str, rng: random.Random) -> bytes:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    plain, _, packed = kind.partition(".")
    if plain in ("csv", "tsv"):
        mark = "," if plain == "csv" else "\t"
        heads = columns + ([rng.choice(columns)] if columns and rng.random() < 0.15 else [])  # a name twice
        lines = [mark.join(_quoted(h, mark) for h in heads)]
        lines += [mark.join(_quoted(str(row.get(c, "")), mark) for c in heads) for row in rows]
        data = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    elif plain == "parquet":
        out = io.BytesIO()
        pl.DataFrame({c: [None if row.get(c) is None else str(row[c]) for row in rows] for c in columns}).with_columns(
            pl.Series(c, [_number(row.get(c)) for row in rows])
            for c in columns
            if all(_number(row.get(c)) is not None for row in rows)
        ).write_parquet(out)
        data = out.getvalue()
    else:
        typed = [{k: v if (x := _number(v)) is None else x for k, v in row.items()} for row in rows]
        data = (json.dumps(typed) if plain == "json" else "\n".join(json.dumps(r) for r in typed)).encode()
    if packed:
        data = gzip.compress(data, mtime=0)
    if rng.random() < (0.4 if packed else 0.1) and len(data) > 20:  # flipped bytes, or an early end
        at = rng.randrange(len(data))
        data = data[:at] + (bytes([data[at] ^ 0x55]) + data[at + 1 :] if rng.random() < 0.7 else b"")
    return data


def _quoted(text: str, mark: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in (mark, '"', "\n", "\r")) else text


def _number(value: Any) -> float | None:
    try:
        return float(value) if value is not None and "_" not in str(value) else None
    except ValueError:
        return None


def hostile(data: bytes) -> tuple[str, bytes]:
    """The table of a case: its kind and its bytes."""
    rng = random.Random(data)
    kind = rng.choice(FORMATS)
    return kind, written(table(rng), kind, rng)


def verb(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        kind, table = hostile(data)
        path = scratch() / f"hostile.{kind}"
        path.write_bytes(table)
        refused(lambda: explored(path) if name == "explore" else called(*VERBS[name], file=path))

    return run


def called(*words: str, file: Path) -> None:
    """A verb as a user types it; what it prints is thrown away, NlgaugeError comes through, and so does everything
    else.
    """
    from nlgauge.cli import build

    out = file.parent / "hostile-out"
    for old in file.parent.glob("hostile-out*"):
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    typed = [word.format(file=file, out=out) if "{" in word else word for word in words]
    quiet = io.StringIO()
    before = Path.cwd()
    os.chdir(file.parent)
    try:
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            build(words[0])(typed, standalone_mode=False)
    except SystemExit as end:
        check(end.code in (0, 2, 3, None), f"{words[0]} ended with {end.code}")
    finally:
        os.chdir(before)


def explored(path: Path) -> None:
    """What the explorer's page asks for."""
    import nlgauge as ng
    from nlgauge.report.explorer.points import Explored

    data = ng.load(path)
    points = Explored(data)
    points.facts()
    for aspect in data.aspects[:2]:
        for metric in data.metrics[:3]:
            points.points(aspect, metric, data.metrics[-1])
    points.sample(0)
    points.listed([0], "cat")
    points.selection([0])
