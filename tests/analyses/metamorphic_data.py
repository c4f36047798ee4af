"""A small data set that every analysis can take, its relatives (shuffled, renamed, turned …), and how tables compare."""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.data.units import PART, PART_OF, PART_ORDER, TRIAL_OF
from nlgauge.table import Table

SYSTEMS, INPUTS, RATERS = 6, 12, 3
ASPECTS = ("coherence", "fluency")
MODEL = "gpt-x"  # chooses beside a person
METRICS = (
    "bleu",
    "rouge_l",
    "bertscore",
    "wobble",
)  # names with families and years; wobble is lower-is-better and no known name
# What an analysis needs beside the data; small numbers of draws, because equality does not need many.
FEW: dict[str, dict[str, Any]] = {
    "agreement": {"draws": 60},
    "best-metric": {"group": "family"},
    "calibration": {"human_pass_from": 3},
    "ceiling": {"splits": 10},
    "chance": {"draws": 20},
    "characteristics": {"draws": 40},
    "checklist": {"draws": 40},
    "confusion": {"judge": "bertscore"},
    "delegate": {"human_pass_from": 3, "error": 0.3, "confidence": 0.6},
    "discrimination": {"draws": 40},
    "disagreements": {"metric": "bertscore"},
    "ensemble": {"by": "kind"},
    "estimate": {"aspect": "coherence"},
    "independent": {"by": "kind", "draws": 40},
    "intervals": {"draws": 60},
    "joint-aspects": {"draws": 40},
    "measures": {"draws": 40, "trials": 30, "redraws": 2},
    "plan": {"trials": 6, "draws": 29, "sizes": (10,)},
    "portfolio": {"count": 3},
    "predictability": {"model": "ridge", "count": 3},
    "progress": {"model": "ridge", "count": 3, "years": {"bleu": 2002, "rouge_l": 2004, "wobble": 2006,
                                                         "bertscore": 2020}},
    "quality-bins": {"draws": 40, "cuts": "terciles"},
    "compare": {"draws": 60},
    "relative-ranking": {"draws": 20},
    "replacement": {"min_units": 5},
    "robustness": {"metrics": "rouge-1", "perturbations": ["drop", "wrong"], "sample": 20, "draws": 40},
    "shared-task": {"aspects": ["coherence"]},
    "compare-pairs": {"draws": 60},
    "rubric": {"human_pass_from": 3, "judge_pass_from": 0.0},
    "steps": {"human_pass_from": 3, "judge_pass_from": 0.0},
    "slices": {"human_pass_from": 3, "judge_pass_from": 0.0, "aspect": "coherence"},
    "sparse-agreement": {"aspect": "coherence"},
    "spans": {"draws": 20},
    "split": {"by": "kind", "draws": 40},
    "stability": {"draws": 60, "trials": 40},
    "system-discrimination": {"draws": 40},
    "system-means": {"test": "permutation", "draws": 60},
    "threshold": {"human_pass_from": 3, "miss": 2.0},
    "transport": {"aspect": "coherence", "by": "kind"},
    "uses": {},
    "verdicts": {"human_pass_from": 3, "judge_pass_from": 0.0},
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """Rows of a file (one a rating), and what is said about its columns."""

    frame: pl.DataFrame
    comparisons: pl.DataFrame
    metrics: tuple[str, ...] = METRICS
    aspects: tuple[str, ...] = ASPECTS
    lower: tuple[str, ...] = ("wobble",)
    names: Mapping[str, str] = None  # type: ignore[assignment]  # new name -> old name

    @functools.cached_property
    def data(self) -> Dataset:
        """Read once for all analyses."""
        found = load(
            self.frame,
            system="system",
            input="input",
            output="output",
            references="reference",
            source="source",
            rater="rater",
            human=list(self.aspects),
            metrics=list(self.metrics),
            lower=list(self.lower),
            name="test",
        )
        return replace(found, comparisons=self.comparisons, spans=self.spans(), models=frozenset({MODEL}))

    def spans(self) -> pl.DataFrame:
        """Each rater of the file marks two words of an output, the model others; some outputs are found clean."""
        marks = []
        for row in self.frame.iter_rows(named=True):
            for rater, shift in ((row["rater"], row[self.aspects[1]]), (MODEL, 2)):
                text = row["output"]
                if (len(text) + shift) % 4 == 0:
                    marks.append((row["system"], row["input"], rater, "output", None, None, None, None))
                    continue
                start = (len(text) * shift) % max(1, len(text) - 6)
                severity = "major" if (start + shift) % 3 else "minor"
                marks.append((row["system"], row["input"], rater, "output", start, start + 6, severity, None))
        return pl.DataFrame(marks, schema=Dataset.SPANS, orient="row").unique(maintain_order=True)

    def options(self, name: str) -> dict[str, Any]:
        """The options with the names of these data."""
        new = {old: given for given, old in (self.names or {}).items()}
        options = FEW.get(name, {})
        function = registry.get("analysis", name).function
        if "families" in inspect.signature(function).parameters:  # else families come from well-known names of metrics
            options = {
                **options,
                "families": dict(zip(METRICS, ("overlap", "overlap", "meaning", "edits"), strict=True)),
            }
        text = json.dumps(options)
        for old, given in new.items():
            text = text.replace(json.dumps(old), json.dumps(given))
        return {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(text).items()}

    def table(self, name: str) -> Table:
        found, data = registry.get("analysis", name), self.data
        if name == "trials":  # two documents are trials of one input
            old = data.samples["input"].replace(self.names or {})
            number = old.str.extract(r"(\d+)").cast(pl.Int64) // 2
            base = pl.Series(TRIAL_OF, [f"item {k}" for k in number])
            data = replace(data, samples=data.samples.with_columns(base))
        if name in ("steps", "rubric"):  # so are two parts of one output
            old = data.samples["input"].replace(self.names or {})
            number = old.str.extract(r"(\d+)").cast(pl.Int64)
            parts = {
                PART_OF: pl.format("item {}", number // 2),
                PART: pl.format("part {}", number % 2),
                PART_ORDER: number % 2 + 1,
            }
            data = replace(data, samples=data.samples.with_columns(e.alias(c) for c, e in parts.items()))
        if name == "distributions":  # judges that give the ratings of annotators
            data = replace(data, scores=data.scores.with_columns(pl.col(data.metrics).abs().round().clip(1, 5)))
        if found.takes == "panel":
            metrics = None
            if name == "plan":  # compares two metrics
                metrics = [m for m in self.metrics if (self.names or {}).get(m, m) in METRICS[:2]]
            return found(data.panel(self.aspects[0], metrics=metrics), **self.options(name))
        if found.takes == "datasets":
            kinds = sorted((part for _, part in data.by("kind")), key=lambda part: part.name)  # drift: old, then new
            groups = {"test: news": "ID", "test: talk": "semantic-shift"}
            grouped = {"groups": groups} if "groups" in found.options else {}
            return found(kinds, **grouped, **self.options(name))
        return found(data, **self.options(name))


@functools.cache
def given() -> Given:
    rng = np.random.default_rng(3)
    truth = rng.normal(0, 0.8, (SYSTEMS, 1)) + rng.normal(0, 1, (SYSTEMS, INPUTS))
    words = "the small old bridge over a wide river stands near some quiet green town with many long streets".split()
    scores = {m: truth + rng.normal(0, sd, truth.shape) for m, sd in zip(METRICS, (0.5, 1.0, 2.0, 4.0), strict=True)}
    scores["wobble"] = -scores["wobble"]
    scores["rouge_l"][2, 3] = np.nan  # one metric with a gap
    references = [" ".join(rng.choice(words, 8)) for _ in range(INPUTS)]
    rows = []
    for i in range(SYSTEMS):
        for j in range(INPUTS):
            text = " ".join(rng.choice(words, int(rng.integers(4, 12))))
            for r in range(RATERS):
                rated = {a: int(np.clip(np.round(3 + truth[i, j] + rng.normal(0, 0.7)), 1, 5)) for a in ASPECTS}
                rows.append(
                    {
                        "system": f"sys{i}",
                        "input": f"doc{j}",
                        "output": text,
                        "reference": references[j],
                        "source": references[j - 1],
                        "kind": "news" if j % 2 else "talk",
                        "rater": f"person{r}",
                        **rated,
                        **{m: float(v[i, j]) for m, v in scores.items()},
                    }
                )
    votes = [
        {
            "input": f"doc{j}",
            "first": f"sys{a}",
            "second": f"sys{b}",
            "aspect": ASPECTS[0],
            "rater": rater,
            "preferred": str(rng.choice(["first", "second", "tie"])),
        }
        for rater in ("person0", MODEL)
        for j in range(INPUTS)
        for a in range(3)
        for b in range(3)
        if a != b
    ]
    frame = pl.DataFrame(rows).with_columns(pl.col(METRICS).fill_nan(None))
    return Given(frame, pl.DataFrame(votes, schema=Dataset.COMPARISONS))


@functools.cache
def table_of(name: str) -> Table:
    """The table of an analysis of these data, for all tests of a process."""
    return given().table(name)


# --- relatives ---


def shuffled_rows(g: Given) -> Given:
    order = np.random.default_rng(8).permutation(g.frame.height)
    votes = np.random.default_rng(9).permutation(g.comparisons.height)
    return replace(g, frame=g.frame[order.tolist()], comparisons=g.comparisons[votes.tolist()])


def shuffled_columns(g: Given) -> Given:
    return replace(
        g, frame=g.frame.select(reversed(g.frame.columns)), metrics=g.metrics[::-1], comparisons=g.comparisons
    )


def _renamed(g: Given, columns: Mapping[str, str], values: Mapping[str, Callable[[int], str]]) -> Given:
    """New names that sort the other way round."""
    names = {new: old for old, new in columns.items()}
    frame, votes = g.frame.rename(dict(columns)), g.comparisons
    for column, name in values.items():
        known = frame[column].unique(maintain_order=True).to_list()
        new = {old: name(len(known) - k) for k, old in enumerate(known)}
        names |= {n: old for old, n in new.items()}
        frame = frame.with_columns(pl.col(column).replace_strict(new))
        for other in {"system": ("first", "second")}.get(column, (column,)):
            votes = votes.with_columns(pl.col(other).replace_strict(new, default=pl.col(other)))
    votes = votes.with_columns(pl.col("aspect").replace_strict(dict(columns), default=pl.col("aspect")))
    renamed = {m: columns.get(m, m) for m in (*g.metrics, *g.aspects)}
    return replace(
        g,
        frame=frame,
        comparisons=votes,
        names=names,
        metrics=tuple(renamed[m] for m in g.metrics),
        aspects=tuple(renamed[a] for a in g.aspects),
        lower=tuple(renamed.get(m, m) for m in g.lower),
    )


def renamed_systems(g: Given) -> Given:
    return _renamed(g, {}, {"system": lambda k: f"engine{k:02d}"})


def renamed_inputs(g: Given) -> Given:
    return _renamed(g, {}, {"input": lambda k: f"page{k:02d}"})


def renamed_raters(g: Given) -> Given:
    return _renamed(g, {}, {"rater": lambda k: f"annotator{k:02d}"})


def renamed_metrics(g: Given) -> Given:
    return _renamed(g, {m: f"zz{k}" for k, m in enumerate(reversed(METRICS))}, {})


def turned(g: Given) -> Given:
    """A lower-is-better metric negated and no longer called so."""
    return replace(g, frame=g.frame.with_columns(-pl.col("wobble")), lower=())


def other_unit(g: Given) -> Given:
    """Positive affine maps by powers of two and whole numbers of them: exact in floating point up to the last bits."""
    return replace(g, frame=g.frame.with_columns(pl.col("bleu") * 4 + 8, pl.col("bertscore") * 0.5 - 2))


def doubled(g: Given) -> Given:
    return replace(g, frame=g.frame.with_columns(pl.col("bleu").alias("twin")), metrics=(*g.metrics, "twin"))


def with_constant(g: Given) -> Given:
    return replace(g, frame=g.frame.with_columns(pl.lit(7.0).alias("flat")), metrics=(*g.metrics, "flat"))


# --- tables ---


def facts(table: Table, names: Mapping[str, str] | None = None) -> list[str]:
    """Rows as words with old names, their numbers apart; the order of the rows is the caller's and means nothing."""
    rows = [_one_way(_plain(row, names or {})) for row in [*table.rows, *_of_the_table(table.facts)]]
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def _of_the_table(facts: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """What a table says beside its rows, one fact a row: `{"of": "bleu rouge_l", "distance": 0.2}`."""

    def leaves(value: Any, *of: str) -> list[tuple[str, Any]]:
        if isinstance(value, Mapping):
            return [leaf for k, v in value.items() for leaf in leaves(v, *of, str(k))]
        return [(" ".join(of), value)]

    return [{"of": of, name: value} for name, fact in facts.items() for of, value in leaves(fact)]


def _one_way(row: dict[str, Any]) -> dict[str, Any]:
    """Two parts of the data, or the two metrics of a plan, whichever came first in the file."""
    if "power" in row:
        row["difference"] = abs(row["difference"])
    if "value_first" not in row or row["first"] <= row["second"]:
        return row
    swap = {
        f"{of}{one}": f"{of}{two}"
        for of in ("", "value_", "n_")
        for one, two in (("first", "second"), ("second", "first"))
    }
    gap = row["difference"]
    return {swap.get(k, k): v for k, v in row.items()} | {"difference": gap if gap == "nan" else -gap}


def _plain(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {_plain(k, names): _plain(v, names) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, names) for v in value]
    if isinstance(value, float):
        # Sums in another order may differ in the last bits, and a zero in its sign.
        return "nan" if math.isnan(value) else round(value, 10) + 0.0
    if isinstance(value, str):
        for new, old in names.items():
            value = value.replace(new, old)
    return value


def in_any_direction(rows: list[str], metric: str) -> list[str]:
    """The same where numbers of one metric keep their own sign: those rows without signs, ends of intervals as a set."""

    def bare(row: dict[str, Any]) -> dict[str, Any]:
        if not any(metric == v or (isinstance(v, str) and metric in v.split(", ")) for v in row.values()):
            return row
        sizes = {k: abs(v) if isinstance(v, float) else v for k, v in row.items() if k not in ("low", "high")}
        ends = sorted(abs(row[k]) for k in ("low", "high") if isinstance(row.get(k), float))
        return {k: v for k, v in sizes.items() if not (isinstance(v, str) and v.strip("-.*†0123456789") == "")} | {
            "ends": ends
        }

    return sorted(json.dumps(bare(json.loads(row)), sort_keys=True) for row in rows)
