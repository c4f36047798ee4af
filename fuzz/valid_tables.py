"""Targets: valid tables with hostile content. They pass the reader, so that what lies behind it is checked.

A case is a seed. It makes a table (ties, constants, gaps, repeated rows, huge and tiny numbers, names in many scripts,
pass and fail, many raters, trials, wide, by rater and long), which is read from CSV, TSV, JSON lines, Parquet and one of
rows, pandas and polars: all five must be the same data, and the figures those of a slow twin.

    python -m fuzz.valid_tables 0 10000      the tables of these seeds
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl

import nlgauge as ng
from fuzz import twins
from fuzz.contract import Target, check, refused
from fuzz.readers import scratch
from nlgauge.data.dataset import Dataset

Row = dict[str, Any]
# Names that people and models have; each is one name in every format, and none differs from another invisibly.
NAMES = [
    "A", "b", "gpt-4o", "t5", "007", "1e5", "-1", "+1", "3.5", "true", "None", "null", "NaN", "inf", "N/A", "#1", "=1+1",
    "@x", "{name}", "{{ x }}", "%s", "$HOME", "a,b", 'say "hi"', "it's", "a;b", "a\tb", "a|b", "<b>", "&amp;", "\\n", "/",
    "..", "café", "naïve", "Ärger", "шум", "模型", "モデル", "नमूना", "نموذج", "👩‍🔬", "ß", "ﬁn", "Ⅷ", "x" * 300, "a b", "[m]",
    "(x)", "*", "^a$", ".*", "a.b", "a:b", "a #2", "system", "input", "value", "rater", "mean", "1", "2", "3", "10", "`q`",
]  # fmt: skip
COLUMNS = [name for name in NAMES if name not in ("*", "^a$", "a\tb", "system", "input", "rater", "\\n")]
COLUMNS = [
    name
    for name in COLUMNS
    if name not in ("inf", "NaN") and not name.lstrip("+-").replace(".", "").replace("e", "").isdigit()
]
FILES, FRAMES = ("csv", "tsv", "jsonl", "parquet"), ("rows", "pandas", "polars")


@dataclass
class ValidTable:
    """Rows, how their columns are declared, and what they say, kept apart from the rows for the twins."""

    rows: list[Row]
    declared: Row
    layout: str
    aspects: list[str]
    metrics: list[str]
    verdicts: bool
    ratings: dict[tuple[str, str, str], dict[str, Fraction]] = field(default_factory=dict)  # + aspect -> rater -> value
    scores: dict[str, dict[twins.Cell, Fraction]] = field(default_factory=dict)


def valid_table(seed: object) -> ValidTable:
    rng = random.Random(f"valid/{seed}")
    systems = rng.sample(NAMES, rng.choice([1, 2, 2, 3, 4, 5, 7]))
    inputs = rng.sample(NAMES, rng.choice([1, 2, 3, 5, 8]))
    raters = rng.sample(NAMES, rng.choice([1, 1, 2, 3, 3, 5, 14]))
    layout = rng.choice(["wide", "raters", "raters", "long"]) if len(raters) > 1 else rng.choice(["one", "one", "long"])
    names = rng.sample(COLUMNS, 4)
    aspects, metrics = names[: rng.choice([1, 1, 2])], names[2 : rng.choice([3, 4])]
    verdicts = rng.random() < 0.35
    table = ValidTable([], {}, layout, aspects, metrics, verdicts)
    rated = _verdict(rng) if verdicts else _number(rng)  # one column holds all ratings of a long table
    rate = {a: rated if layout == "long" else _verdict(rng) if verdicts else _number(rng) for a in aspects}
    score = {m: _verdict(rng) if verdicts and k == 0 else _number(rng) for k, m in enumerate(metrics)}
    gap = rng.choice([0, 0, 0, 0.1, 0.4])
    trials = rng.choice([1, 1, 1, 2]) if layout == "one" else 1
    for i in inputs:
        for s in systems:
            if rng.random() < gap / 4:
                continue
            for trial in range(trials):
                _add(table, rng, (s, i if trial == 0 else f"{i} #{trial + 1}"), (i, trial), raters, rate, score, gap)
    if trials > 1:
        table.declared["repeats"] = "number"
    elif rng.random() < 0.2 and table.rows:
        table.rows += [dict(row) for row in rng.sample(table.rows, min(2, len(table.rows)))]
    if trials == 1 and rng.random() < 0.5:
        rng.shuffle(table.rows)
    return _declare(table, raters)


def _verdict(rng: random.Random) -> Callable[[], Any]:
    share = rng.choice([0.0, 0.1, 0.5, 0.5, 0.9, 1.0])
    yes, no = rng.choice([(True, False), (1, 0), (1.0, 0.0), (1, 0.0)])
    return lambda: yes if rng.random() < share else no


def _number(rng: random.Random) -> Callable[[], Any]:
    """Numbers of one kind; most are multiples of a power of two, so that their sums are exact."""
    kind = rng.choice(["scale", "scale", "fine", "huge", "tiny", "far", "constant", "mixed", "negative"])
    if kind == "scale":
        most = rng.choice([2, 3, 5, 100])
        return lambda: rng.randint(1, most)
    if kind == "constant":
        value = rng.choice([0, 1, -2.5, 1e9, 3])
        return lambda: value
    if kind == "mixed":
        return lambda: rng.choice([rng.randint(0, 9), rng.randint(0, 64) / 8])
    low, unit = {
        "fine": (0, 2.0**-20),
        "huge": (0, 2.0**400),
        "tiny": (0, 2.0**-400),
        "far": (2**20, 1.0),
        "negative": (-(2**12), 0.25),
    }[kind]
    return lambda: (low + rng.randint(0, 1000)) * unit


def _add(
    table: ValidTable,
    rng: random.Random,
    cell: twins.Cell,
    place: tuple[str, int],
    raters: list[str],
    rate: dict[str, Callable[[], Any]],
    score: dict[str, Callable[[], Any]],
    gap: float,
) -> None:
    """Add the rows of one output in the layout of the table."""
    key: Row = {"system": cell[0], "input": place[0]}
    if place[1] or table.layout == "one":
        key["output"] = f"output {cell[0]} {cell[1]} {len(table.rows)}"
    scores = {m: None if rng.random() < gap else value() for m, value in score.items()}
    ratings = {a: {r: None if rng.random() < gap else value() for r in raters} for a, value in rate.items()}
    for m, value in scores.items():
        if value is not None:
            table.scores.setdefault(m, {})[cell] = Fraction(value)
    for a, by in ratings.items():
        table.ratings[(*cell, a)] = {r: Fraction(v) for r, v in by.items() if v is not None}
    if table.layout == "one":
        table.rows.append(key | {f"human.{a}": by[raters[0]] for a, by in ratings.items()} | _scored(scores))
    elif table.layout == "wide":
        columns = {f"human.{a}.{k}": by[r] for a, by in ratings.items() for k, r in enumerate(raters)}
        table.rows.append(key | columns | _scored(scores))
    elif table.layout == "raters":
        for r in raters:
            table.rows.append(key | {"rater": r} | {f"human.{a}": by[r] for a, by in ratings.items()} | _scored(scores))
    else:
        for a, by in ratings.items():
            for r in raters:
                table.rows.append(key | {"rater": r, "aspect": a, "rating": by[r]} | _scored(scores))


def _scored(scores: Row) -> Row:
    return {f"metric.{m}": value for m, value in scores.items()}


def _declare(table: ValidTable, raters: list[str]) -> ValidTable:
    """Say what each column is: inference of roles is another target's matter."""
    declared = table.declared
    declared |= {"system": "system", "input": "input", "human_systems": []}
    declared["metrics"] = {m: f"metric.{m}" for m in table.metrics}
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    if table.layout == "wide":
        declared["human"] = {a: [c for c in columns if c.startswith(f"human.{a}.")] for a in table.aspects}
    elif table.layout != "long":
        declared["human"] = {a: f"human.{a}" for a in table.aspects}
    if table.layout in ("raters", "long"):
        declared |= {"rater": "rater", "person_raters": raters}
    declared["higher"] = list(table.metrics)
    return table


# --- one table, six formats ---


def written(rows: list[Row], form: str, name: str = "valid") -> Any:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if form == "rows":
        return rows
    if form == "pandas":
        import pandas as pd

        return pd.DataFrame(rows, columns=columns)
    path = scratch() / f"{name}.{form}"
    if form in ("csv", "tsv"):
        out = io.StringIO()
        cells = (["" if row.get(c) is None else _cell(row[c]) for c in columns] for row in rows)
        csv.writer(out, delimiter="," if form == "csv" else "\t").writerows([columns, *cells])
        path.write_text(out.getvalue(), encoding="utf-8", newline="")
    elif form == "jsonl":
        lines = (json.dumps(row, ensure_ascii=len(row) % 2 == 0) + "\n" for row in rows)
        path.write_text("".join(lines), encoding="utf-8")
    else:
        frame = pl.DataFrame(
            {c: pl.Series(c, values, dtype=_dtype(values)) for c in columns if (values := [row.get(c) for row in rows])}
        )
        if form == "polars":
            return frame
        frame.write_parquet(path)
    return path


def _cell(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _dtype(values: list[Any]) -> Any:
    kinds = {type(v) for v in values if v is not None}
    if kinds == {str} or not kinds:
        return pl.String
    return pl.Boolean if kinds == {bool} else pl.Int64 if kinds == {int} else pl.Float64


def facts(data: Dataset) -> dict[str, Any]:
    """What a data set says, in an order that does not depend on that of the file."""
    metrics = {
        m: {(s, i): v for s, i, v in data.scores.select("system", "input", m).iter_rows() if v is not None}
        for m in data.metrics
    }
    return {
        "systems": data.systems,
        "inputs": data.inputs,
        "ratings": sorted(map(repr, data.ratings.select(list(Dataset.RATINGS)).iter_rows())),
        "metrics": metrics,
    }


# --- what must hold ---


def _loaded(table: ValidTable, form: str) -> Dataset:
    return ng.load(written(table.rows, form), **table.declared)


def holds(data: bytes) -> None:
    table = valid_table(hashlib.sha256(data).hexdigest())
    if not table.rows:
        return
    forms = (*FILES, FRAMES[sum(data) % 3])
    loaded = {form: refused(partial(_loaded, table, form)) for form in forms}
    there = {form for form, each in loaded.items() if each is not None}
    check(there in (set(), set(forms)), f"read from {sorted(there)}, refused from the others")
    if not there:
        return
    first = facts(loaded["csv"])
    for form in forms[1:]:
        other = facts(loaded[form])
        for what, value in first.items():
            check(value == other[what], f"other {what} from {form} than from csv")
    _check_values(table, loaded["jsonl"])
    _check_correlations(table, loaded["jsonl"])
    _check_agreement(table, loaded["jsonl"])
    if table.verdicts:
        _check_verdicts(table, loaded["jsonl"])
    _check_relations(table, loaded["jsonl"])


def _check_values(table: ValidTable, data: Dataset) -> None:
    """Every rating and score arrived as it was given."""
    for m, cells in table.scores.items():
        check(m in data.metrics, "a metric is missing")
        read = {(s, i): v for s, i, v in data.scores.select("system", "input", m).iter_rows() if v is not None}
        check(read == {cell: float(v) for cell, v in cells.items()}, "other scores than given")
    given = sorted((*key, float(v)) for key, by in table.ratings.items() for v in by.values())
    read_back = sorted(data.ratings.select("system", "input", "aspect", "value").iter_rows())
    check(read_back == given, "other ratings than given")


def _people(table: ValidTable, aspect: str) -> dict[twins.Cell, list[Fraction]]:
    return {key[:2]: list(by.values()) for key, by in table.ratings.items() if key[2] == aspect and by}


def _check_correlations(table: ValidTable, data: Dataset) -> None:
    for aspect in table.aspects:
        human = {cell: twins.mean(values) for cell, values in _people(table, aspect).items()}
        found = refused(partial(ng.correlate, data, aspect=aspect))
        if found is None:
            continue
        expected = {m: twins.correlations(table.scores.get(m, {}), human) for m in table.metrics}
        for row in found:
            value, groups = expected[row["metric"]][row["measure"]]
            check(row["groups"] == groups, f"{row['measure']}: {row['groups']} groups, the twin has {groups}")
            check(twins.same(row["value"], value), f"{row['measure']}: {row['value']!r}, the twin has {value!r}")


def _check_agreement(table: ValidTable, data: Dataset) -> None:
    found = refused(partial(ng.agreement, data))
    for row in found or ():
        people = _people(table, row["aspect"])
        expected = {"Krippendorff's alpha (interval)": twins.alpha(people.values())}
        most = max(map(len, people.values()))
        complete = [values for values in people.values() if len(values) == most]
        if len(complete) == len(people) > 1 and most > 1:
            expected |= twins.icc(complete)
        value = expected.get(row["coefficient"])
        check(
            math.isnan(row["value"]) or row["value"] <= 1 + 1e-9, f"{row['coefficient']}: {row['value']!r} is beyond 1"
        )
        check(not math.isnan(row["value"]) or row["reason"], f"{row['coefficient']}: undefined without a reason")
        if value is not None and not math.isnan(row["value"]):
            check(twins.same(row["value"], value), f"{row['coefficient']}: {row['value']!r}, the twin has {value!r}")
        elif row["coefficient"].startswith("Kripp") and value is not None:
            check(math.isnan(value), f"{row['coefficient']}: undefined ({row['reason']}), the twin has {value!r}")


def _check_verdicts(table: ValidTable, data: Dataset) -> None:
    judge = table.metrics[0]
    for aspect in table.aspects:
        votes = _people(table, aspect)
        passes = {c: p for c, v in votes.items() if (p := twins.majority(v, Fraction(1))) is not None}
        scores = {cell: value >= 1 for cell, value in table.scores.get(judge, {}).items()}
        found = refused(partial(ng.verdicts, data, aspect=aspect, metrics=judge))
        if found is None or not any(cell in scores for cell in passes):
            continue
        expected = twins.verdicts(passes, scores)
        for row in found:
            if row["metric"] == judge and row["measure"] in expected:
                value = expected[row["measure"]]
                check(twins.same(row["value"], value), f"{row['measure']}: {row['value']!r}, the twin has {value!r}")


def _check_relations(table: ValidTable, data: Dataset) -> None:
    """The order of the rows and the unit of a metric change no correlation; the opposite metric turns its sign."""
    if table.layout == "one" and "repeats" in table.declared:
        return  # trials are numbered in the order of the rows
    columns = {f"metric.{m}" for m in table.metrics}
    backward = [
        {k: v if k not in columns or v is None else -8.0 * v for k, v in row.items()} for row in table.rows[::-1]
    ]
    other = ng.load(backward, **table.declared)
    for aspect in table.aspects:
        one, two = (refused(partial(ng.correlate, each, aspect=aspect)) for each in (data, other))
        check((one is None) == (two is None), "refused in one order of the rows only")
        values = [{(r["metric"], r["measure"]): r["value"] for r in t or ()} for t in (one, two)]
        check(set(values[0]) == set(values[1]), "other rows in another order of the rows")
        for key, value in values[0].items():
            check(twins.same(value, -values[1][key]), f"{key[1]}: {value!r}, of the opposite {values[1][key]!r}")


def targets() -> Iterator[Target]:
    yield Target("valid-tables", holds, [hashlib.sha256(bytes([k])).digest() for k in range(8)], weight=1)


def main(first: int, count: int) -> int:
    """Check the tables of so many seeds; print what broke, by the seed that shows it."""
    begin, broken = time.process_time(), dict[str, list[int]]()
    for seed in range(first, first + count):
        try:
            holds(seed.to_bytes(4, "big"))
        except Exception as error:
            broken.setdefault(f"{type(error).__name__}: {re.sub(r'[-+.0-9e]+', '#', str(error))[:120]}", []).append(
                seed
            )
    print(
        f"{count:,} tables from seed {first} in {time.process_time() - begin:.0f} CPU seconds; {len(broken)} ways to break"
    )
    for how, seeds in broken.items():
        print(f"  {how} ({len(seeds)}x, seeds {seeds[:5]})")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
