"""Outcomes of metrics on some samples: counts, sums and reasons that add up over batches, and their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.data.card import headline
from nlgauge.metrics import Batch, Metric
from nlgauge.scoring.score_batch import Column, against
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array


@dataclass
class Outcome:
    """One metric on some samples; `stats` are the sums that the value of their corpus comes from."""

    scored: int = 0
    total: float = 0.0
    unscored: int = 0
    seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    stats: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, column: Column) -> Outcome:
        """Count the values and reasons of a column."""
        valid = column.values[~np.isnan(column.values)]
        return cls(
            len(valid),
            float(valid.sum()),
            column.n - len(valid),
            column.seconds,
            Counter(column.reasons.values()),
            Counter(column.notes),
            Counter(column.tally),
        )

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Outcome:
        """Read an outcome that was written as JSON."""
        return cls(**stored | {name: Counter(stored[name]) for name in ("reasons", "notes", "tally")})

    def __add__(self, other: Outcome) -> Outcome:
        sums = np.add(self.stats, other.stats).tolist() if self.stats and other.stats else self.stats or other.stats
        added = {name: value + getattr(other, name) for name, value in vars(self).items() if name != "stats"}
        return Outcome(**added, stats=sums)

    @property
    def mean(self) -> float:
        """Mean over scored samples; NaN if there are none."""
        return self.total / self.scored if self.scored else float("nan")


Outcomes = dict[str, Outcome]  # by metric


def _added(first: Outcomes, second: Outcomes) -> Outcomes:
    return first | {name: first.get(name, Outcome()) + outcome for name, outcome in second.items()}


@dataclass
class Sums:
    """The outcomes of the rows so far: by metric, and by group and metric."""

    rows: int = 0
    empty: int = 0  # empty outputs
    references: list[int] = field(default_factory=list)  # each number of references of an output
    outcomes: Outcomes = field(default_factory=dict)
    groups: dict[str, Outcomes] = field(default_factory=dict)

    @classmethod
    def of(cls, batch: Batch, columns: dict[str, Column], groups: Sequence[str] = ()) -> Sums:
        """Return the outcomes of one batch; `groups` has the group of each sample."""
        outcomes = {name: Outcome.of(column) for name, column in columns.items()}
        sums = cls(len(batch), _empty(batch), np.unique(np.diff(batch.start)).tolist(), outcomes)
        numbers: dict[str, int] = {}
        group = np.array([numbers.setdefault(g, len(numbers)) for g in groups], np.int64)
        for name, column in columns.items() if numbers else ():
            scored_rows = ~np.isnan(column.values)
            scored, unscored = (
                np.bincount(group[rows], minlength=len(numbers)) for rows in (scored_rows, ~scored_rows)
            )
            total = np.bincount(group[scored_rows], column.values[scored_rows], len(numbers))
            stats = np.zeros((len(numbers), 0 if column.stats is None else column.stats.shape[1]))
            if column.stats is not None:
                np.add.at(stats, group, column.stats)
            for label, g in numbers.items():
                outcome = Outcome(int(scored[g]), float(total[g]), int(unscored[g]), stats=stats[g].tolist())
                sums.groups.setdefault(label, {})[name] = outcome
        return sums

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Sums:
        """Read what was written; damaged content raises ValueError, KeyError, TypeError or AttributeError."""

        def outcomes(of_metrics: dict[str, Any]) -> Outcomes:
            return {name: Outcome.from_json(one) for name, one in of_metrics.items()}

        groups = {group: outcomes(of_group) for group, of_group in stored["groups"].items()}
        return cls(stored["rows"], stored["empty"], stored["references"], outcomes(stored["outcomes"]), groups)

    def __add__(self, other: Sums) -> Sums:
        groups = {group: _added(self.groups.get(group, {}), of_group) for group, of_group in other.groups.items()}
        return Sums(
            self.rows + other.rows,
            self.empty + other.empty,
            sorted({*self.references, *other.references}),
            _added(self.outcomes, other.outcomes),
            self.groups | groups,
        )

    def table(self, name: str, metrics: Sequence[Metric]) -> Table:
        """Return the table of what was run: metric, mean, unscored, seconds, signature; reasons as notes."""
        many = str(self.references[0]) if len(self.references) == 1 else "var"
        rows, remarks, warnings, first = [], [], Counter[str](), list[str]()
        for metric in metrics:
            outcome = self.outcomes[str(metric)]
            rows.append(
                {
                    "metric": str(metric),
                    "mean": outcome.mean,
                    "scored": outcome.scored,
                    "unscored": outcome.unscored,
                    "seconds": outcome.seconds,
                    "better": "lower" if metric.facts.lower else "higher",
                    "against": against(metric),
                    "signature": metric.signature,
                    **({"corpus_signature": metric.corpus_signature(many)} if metric.has_corpus else {}),
                }
            )
            first += headline(str(metric), outcome.reasons, outcome.scored + outcome.unscored)
            remarks += [f"{metric}: {n} unscored ({reason})" for reason, n in outcome.reasons.most_common()]
            for note, times in outcome.notes.items():
                warnings[note] = max(warnings[note], times)
            if outcome.tally:
                remarks.append(", ".join(f"{n:,} {what}" for what, n in outcome.tally.items()))
        notes = [f"warning: {times} × {note}" for note, times in warnings.items()]
        if self.empty and "empty output" not in warnings:
            notes.append(f"warning: {self.empty} × empty output")
        notes += dict.fromkeys(remarks)
        return Table(
            f"Scores of {name}",
            rows,
            method=MEANS + SECONDS,
            notes=notes,
            headlines=first,
            kind="score",
            heads={"mean": "mean of outputs"},
        )

    def tables(self, name: str, by: str, metrics: Sequence[Metric], batch: int) -> tuple[Table, Table]:
        """Return the table of what was run on a file in batches, and that of means and corpus values by group."""
        run = self.table(name, metrics)
        run.notes = [*run.notes, f"{self.rows:,} rows in batches of {batch:,}, each row a sample of its own"]
        rows: list[Row] = []
        for metric in metrics:
            for group, outcomes in self.groups.items():
                outcome, corpus = outcomes[str(metric)], None
                if metric.has_stats:
                    has_statistics = outcome.stats and outcome.scored
                    corpus = from_sums(metric, np.array(outcome.stats)) if has_statistics else np.nan
                counts = {"n": outcome.scored, "unscored": outcome.unscored, "lower": metric.facts.lower}
                rows += group_rows({by: group}, str(metric), outcome.mean, corpus, counts)
        groups = group_table(name, by, rows)
        corpus_first(run, groups)
        if pooled := [str(m) for m in metrics if m.has_pooled and not m.has_stats]:
            pooled_note = f"no corpus value in batches, as it pools the outputs themselves: {', '.join(pooled)}"
            groups.notes = [*groups.notes, pooled_note]
        return run, groups


def _empty(batch: Batch) -> int:
    texts = batch.texts.list()
    return sum(1 for i in batch.output.tolist() if i >= 0 and not texts[i].strip())


MEANS = "mean of outputs: the mean of the scores of single outputs. "
CORPUS = (
    "corpus: from counts pooled over the outputs, as papers report BLEU, chrF and TER; the signature is that of this "
    "score. mean of outputs: the mean of the scores of single outputs, another number. "
)
SECONDS = "seconds: work that metrics share, as encoding the texts, counts for the first of them."


# --- tables of groups ---


def group_rows(group: Row, name: str, mean: float, corpus: float | None, counts: Row) -> list[Row]:
    """Return the rows of one group and metric: the corpus value if there is one, and the mean."""
    row = {**group, "metric": name, "of": "mean", "column": name, **counts, "value": mean}
    if corpus is None:
        return [row]
    whole = {**row, "of": "corpus", "column": f"{name} (corpus)", "value": corpus}
    return [whole, {**row, "column": f"{name} (mean)"}]


def corpus_first(run: Table, groups: Table) -> None:
    """Put the corpus scores, with their signatures, before the means in the table of the run.

    A mean of sentence scores next to the signature of a corpus score would be misquoted. Several groups have no common
    corpus score: their scores are in the table of groups.
    """
    line: Any = groups.layout.lines if groups.layout else ""
    corpus = {row["metric"]: row["value"] for row in groups.rows if row["of"] == "corpus"}
    if not any("corpus_signature" in row for row in run.rows):
        return
    if len({row[line] for row in groups.rows}) == 1 and corpus:
        run.rows = [{"metric": r["metric"], "corpus": corpus.get(r["metric"], np.nan), **r} for r in run.rows]
    run.shown = [name for name in run.columns if name != "corpus_signature"]
    run.cells["signature"] = lambda row: str(row.get("corpus_signature", row["signature"]))
    run.method = CORPUS + SECONDS


def group_table(name: str, by: str | None, rows: list[Row]) -> Table:
    """Return the table of means and corpus values by group."""
    line = by or "outputs"
    return Table(
        Title(name, f"metrics by {line}" if by else "metrics of all outputs"),
        rows,
        _layout(line, rows),
        kind="score-means",
        method="(corpus): from counts pooled over the outputs; otherwise the mean of the scores of single outputs."
        if any(row["of"] == "corpus" for row in rows)
        else "Mean of the scores of single outputs.",
    )


def from_sums(metric: Any, sums: Array) -> float:
    """Return the value of a corpus from the sums of its samples' statistics; NaN without any."""
    return float(np.asarray(metric.from_stats(sums)).reshape(-1)[0]) if len(sums) else np.nan


def _layout(line: str, rows: list[Row]) -> Layout:
    def unscored(group_rows: list[Row]) -> int:
        return sum(row["unscored"] for row in group_rows if row["of"] == "mean")

    def best(row: Row) -> float:
        return float(-row["value"] if row["lower"] else row["value"])

    heads = {row["column"]: f"{row['column']} ↓" for row in rows if row["lower"]}
    extra: dict[str, Callable[[list[Row]], int]] = {}
    if any(row["unscored"] for row in rows):
        extra["unscored"] = unscored
    several = len({row[line] for row in rows}) > 1
    return Layout(line, "column", "value", best=best if several else None, heads=heads, extra=extra)
