"""Data of the explorer: outputs with the mean human rating per aspect and all scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.card import rating_source
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import NameUnknown
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.report.explorer.label_file import WORDS, GivenLabels
from nlgauge.stats.correlation.ranks import average_ranks

TEXTS = ("output", "source", "context", "references", "control")
MAX_LINE = 160  # characters of an output in the list
LISTED = 200  # lines of the list
LEAST_OUTPUTS = 5  # outputs for a correlation
LONGEST = 20_000  # signs of a text that a page shows; what is cut is counted


@dataclass(frozen=True)
class Explored:
    """A Dataset prepared for queries; `aspects` and `metrics` restrict it, all by default."""

    data: Dataset
    aspects: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    given: GivenLabels | None = None  # labels that a person gives in the page

    def __post_init__(self) -> None:
        for kind, asked, known in (
            ("aspect", self.aspects, self.data.aspects),
            ("metric", self.metrics, self.data.metrics),
        ):
            for name in asked or ():
                _known(name, known, kind)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Return one row per output: index, system, input, `people:<aspect>` and the scores."""
        rated = self.data.ratings.group_by("system", "input", "aspect", maintain_order=True).agg(pl.col("value").mean())
        column = ("people:" + pl.col("aspect")).alias("aspect")  # first: an aspect may be called "system"
        people = (
            rated.with_columns(column).pivot("aspect", index=KEY, values="value") if len(rated) else rated.select(KEY)
        )
        found = self.data.samples.select(KEY).join(people, on=KEY, how="left", maintain_order="left")
        scores = self.data.scores.rename({m: _column(m) for m in self.data.metrics})
        return found.join(scores, on=KEY, how="left", maintain_order="left").with_row_index("place")

    def facts(self) -> dict[str, Any]:
        """Return what the page needs to know at once: names, label keys and the labels so far."""
        return {
            "name": self.data.name,
            "systems": self.data.systems,
            "aspects": list(self.aspects or self.data.aspects),
            "metrics": list(self.metrics or self.data.metrics),
            "lower": sorted(self.data.lower),
            "human_systems": sorted(self.data.human_systems),
            "rated_by": rating_source(self.data),
            "outputs": len(self.data),
            "label_file": self.given and self.given.path.name,
            "annotator": self.given.annotator if self.given is not None else "",
            "label_keys": WORDS,
            "labels": self.labels(),
        }

    def labels(self) -> dict[int, str]:
        """Return the labels that were given in the page, by index of the output."""
        return self._places(self.given.labels()) if self.given is not None else {}

    def _places(self, labels: Mapping[tuple[str, str], str]) -> dict[int, str]:
        keys = self.data.samples.select(KEY).rows() if labels else []
        return {place: labels[key] for place, key in enumerate(keys) if key in labels}

    def label(self, place: int, label: str) -> dict[int, str]:
        """Write the label of one output to the file; all labels."""
        if self.given is None:
            raise NameUnknown(f"labels need a file; start with {option('label_file')}.")
        system, given_input = self._row(place, KEY)
        return self._places(self.given.put(system, given_input, label))

    def _row(self, place: int, columns: Sequence[str]) -> tuple[Any, ...]:
        if not 0 <= place < len(self.data.samples):
            raise NameUnknown(f"no output {place}; there are {len(self.data.samples)}.")
        return self.data.samples.select(columns).row(place)

    def points(self, aspect: str, metric: str, other: str = "") -> dict[str, Any]:
        """Return index, system, rating and scores of each output, and the differences between metric ranks and human
        ranks. Without ratings (aspect ''), ratings and differences are 0.
        """
        if aspect or self.data.aspects:
            _known(aspect, self.data.aspects, "aspect")
        for name in filter(None, (metric, other)):
            _known(name, self.data.metrics, "metric")
        people = [f"people:{aspect}"] if aspect else []
        names = [*people, *(_column(m) for m in (metric, other) if m)]
        rows = self.frame.select(
            "place", "system", "input", *(pl.col(n).cast(pl.Float64) for n in dict.fromkeys(names))
        )
        whole = rows.drop_nulls().filter(pl.all_horizontal(pl.col(n).is_finite() for n in names))
        rated = whole[people[0]].to_numpy() if people else np.zeros(len(whole))
        scores = {m: whole[_column(m)].to_numpy() for m in (metric, other) if m}
        gaps = {m: self._gap(m, scores[m], rated) if people else rated.tolist() for m in scores}
        return {
            "place": whole["place"].to_list(),
            "system": whole["system"].to_list(),
            "input": whole["input"].to_list(),
            "human": rated.tolist(),
            "score": scores[metric].tolist(),
            "gap": gaps[metric],
            "second": scores[other].tolist() if other else [],
            "other": gaps[other] if other else [],
            "missing": len(rows) - len(whole),
        }

    def _gap(self, metric: str, scores: np.ndarray, people: np.ndarray) -> list[float]:
        """Rank by the metric minus rank by human ratings, both 0 to 1: above 0, the metric overrates the output."""
        if len(scores) < 2:
            return [0.0] * len(scores)
        turned = -scores if metric in self.data.lower else scores
        return [float(g) for g in (average_ranks(turned) - average_ranks(people)) / (len(scores) - 1)]

    def agreement(self, aspect: str, metric: str, places: Sequence[int]) -> dict[str, Any]:
        """Return Spearman's correlation with human ratings over some outputs, and their number; None if values are
        constant.
        """
        _known(aspect, self.data.aspects, "aspect")
        _known(metric, self.data.metrics, "metric")
        names = [f"people:{aspect}", _column(metric)]
        rows = self.frame.filter(pl.col("place").is_in(list(places))).select(pl.col(n).cast(pl.Float64) for n in names)
        whole = rows.drop_nulls().filter(pl.all_horizontal(pl.col(n).is_finite() for n in names))
        people, scores = (average_ranks(whole[n].to_numpy()) for n in names)
        if len(whole) < LEAST_OUTPUTS or people.std() == 0 or scores.std() == 0:
            return {"n": len(whole), "correlation": None}
        turned = -1 if metric in self.data.lower else 1
        return {"n": len(whole), "correlation": turned * float(np.corrcoef(people, scores)[0, 1])}

    def sample(self, place: int) -> dict[str, Any]:
        """Return all data on one output."""
        columns = self.data.samples.columns
        row = dict(zip(columns, self._row(place, columns), strict=True))
        of_output = (pl.col("system") == row["system"]) & (pl.col("input") == row["input"])
        scores = self.data.scores.filter(of_output).drop(KEY).row(0, named=True)
        why = {r["metric"]: r["reason"] for r in self.data.failures.filter(of_output).iter_rows(named=True)}
        return {
            "system": row["system"],
            "input": row["input"],
            "person": row["system"] in self.data.human_systems,
            "texts": {name: _cut(row[name]) for name in TEXTS if row.get(name)},
            "ratings": [
                [r["aspect"], r["rater"] or "–", r["value"]]
                for r in self.data.ratings.filter(of_output).iter_rows(named=True)
            ],
            "scores": [[m, None if v is None or math.isnan(v) else v, why.get(m, "")] for m, v in scores.items()],
        }

    def listed(self, places: Sequence[int], words: str = "") -> dict[str, Any]:
        """Return the outputs that contain the words, with short excerpts of the first ones."""
        there = [p for p in places if 0 <= p < len(self.data.samples)]
        texts = self.data.samples["output"].to_list() if "output" in self.data.samples.columns else []
        wanted = words.strip().casefold()
        if wanted:
            there = [p for p in there if texts and wanted in (texts[p] or "").casefold()]
        rows = self.data.samples.select(KEY).rows()
        first = [
            {
                "place": p,
                "system": rows[p][0],
                "input": rows[p][1],
                "output": _around(texts[p] or "", wanted) if texts else "",
            }
            for p in there[:LISTED]
        ]
        return {"places": there, "rows": first}

    def selection(self, places: Sequence[int]) -> pl.DataFrame:
        """Return the selected outputs with texts, mean ratings and scores as one table."""
        texts = [c for c in TEXTS if c in self.data.samples.columns]
        chosen = self.frame.with_columns(self.data.samples[c] for c in texts)
        flat = [pl.col(c).list.join(" ||| ") for c in texts if isinstance(chosen.schema[c], pl.List)]
        return chosen.with_columns(flat).filter(pl.col("place").is_in(list(places))).drop("place")


def _column(metric: str) -> str:
    """Return the column of a metric in the frame: its name, unless something else has that name there."""
    return f"metric:{metric}" if metric in ("place", *TEXTS) or metric.startswith("people:") else metric


def _known(name: str, known: Sequence[str], kind: str) -> None:
    if name not in known:
        raise NameUnknown(f"no {kind} '{name}'.{did_you_mean(name, known)}")


def _around(text: str, words: str) -> str:
    """Return the beginning of a text, or the context of the words that were searched.

    >>> _around("a" * 200 + " fox " + "b" * 200, "fox")[:6], len(_around("x" * 999, ""))
    ('… aaaa', 160)
    """
    at = text.casefold().find(words) if words else 0
    start = max(0, at - MAX_LINE // 2) if at > MAX_LINE - len(words) else 0
    return ("… " if start else "") + text[start : start + MAX_LINE]


def _cut(text: Any) -> Any:
    if isinstance(text, list):
        return [_cut(t) for t in text if t]
    whole = str(text)
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]} … ({len(whole) - LONGEST:,} more signs)"
