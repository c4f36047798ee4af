"""Deng et al. (2021), Tables D.1–F.6 and ablations: human correlation of information alignment by embedding matching
(E).

`nlgauge reproduce deng2021 estimators` scores five published sets with the embedded 22M-parameter encoder and prints
our rows next to the paper's (RoBERTa-large, BERT-base, trained D and R).

One rule (choice.py) selects the settings on a single data set per task (`chosen here`); the results on the other sets
are reported. `ctc(aspect=…)` uses the paper's formula; `formula='chosen'` is the best of several ways to aggregate the
same alignments. `dialogue` (Table F.6) uses the settings of engagingness. None of these results is a fully held-out
estimate, because all of these data sets were also used during development.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import Dataset, Table
from nlgauge.metrics import Batch, CachedRunner, Store, metric_from_spec
from nlgauge.plugins import Row
from nlgauge.stats import Measure, bootstrap, evaluate
from nlgauge_papers import Sources, further

PAPER = json.loads(Path(__file__).with_name("ctc_paper.json").read_text(encoding="utf-8"))
SETS = ("qags-cnndm", "qags-xsum", "summeval", "yelp", "usr-persona", "usr-topical")
MEASURES = [
    "global/pearson",
    "global/spearman",
    "global/kendall",
    "system/pearson",
    "system/spearman",
    "system/kendall",
]
HUMAN = {"engagingness": "Engaging", "groundedness": "UsesKnowledge", "preservation": "content preservation"}
CHOSEN_ON = {
    "consistency": "qags-cnndm", "relevance": "summeval, 11 references, even inputs",
    "preservation": "yelp, even inputs",
    "engagingness": "usr-persona", "groundedness": "usr-persona", "dialogue": "usr-persona",
}  # fmt: skip
# A second consistency, for abstractive summaries: chosen on QAGS-XSUM.
ABSTRACTIVE = "align-expr(layer=6, window=1, sharp=2.0, stop=True, unit='word')"


def both(aspect: str) -> list[str]:
    """Return the paper's formula, then the selected one."""
    return [f"ctc(aspect='{aspect}')", f"ctc(aspect='{aspect}', formula='chosen')"]


@dataclass(frozen=True)
class Case:
    """One number of the paper: a metric on a set, and the human ratings of an aspect."""

    table: str
    set: str
    aspect: str
    spec: str
    references: int = 0
    half: int | None = None  # 0 even, 1 odd inputs

    @property
    def human(self) -> str:
        """Return the name that the set has for the aspect."""
        return HUMAN.get(self.aspect, self.aspect)


def cases() -> list[Case]:
    """Return every number that is computed, set by set."""
    results = []
    for name in ("usr-persona", "usr-topical"):
        one, two = ("F.1", "F.2") if name == "usr-persona" else ("F.3", "F.4")
        for table, aspect in ((one, "engagingness"), (two, "groundedness")):
            results += [Case(table, name, aspect, spec) for spec in ("length", *both(aspect))]
        results += [
            Case("F.6", name, aspect, "ctc(aspect='dialogue')")
            for aspect in ("Understandable", "Natural", "MaintainsContext", "Overall")
        ]
    for name in ("qags-cnndm", "qags-xsum", "summeval"):
        table = "D.1" if name == "summeval" else "D.4"
        results += [Case(table, name, "consistency", s) for s in ("ctc", "ctc(formula='chosen')", ABSTRACTIVE)]
    halves = (None, 0, 1)
    for table, k in (("D.2", 1), ("D.3", 11)):
        results += [Case(table, "summeval", "relevance", s, k, h) for h in halves for s in both("relevance")]
    return results + [Case("E.1", "yelp", "preservation", s, 0, h) for h in halves for s in both("preservation")]


def align_spec(formula: str, settings: Any) -> str:
    """Return the metric `align-expr` with a formula and the settings of another alignment (layer, window …)."""
    names = ("layer", "window", "match", "sharp", "stop", "unit")
    options = ", ".join(f"{name}={getattr(settings, name)!r}" for name in names)
    return str(metric_from_spec(f"align-expr(expr={formula!r}, {options})"))


class Sets:
    """The published sets with the paper's fields: x the input, c the context, y the output, r references."""

    def __init__(self, sources: Sources) -> None:
        self.sources, self.tell = sources, sources.tell
        self.runner = CachedRunner(Store(sources.store))
        self.loaded: dict[str, tuple[Dataset, Batch]] = {}
        self.scores: dict[tuple[str, int, str], list[float]] = {}

    def get(self, name: str) -> tuple[Dataset, Batch]:
        """Return a set with its texts as a batch, loaded once."""
        if name not in self.loaded:
            data = self.sources(name)
            there = ("output", "source", "context", "references")
            columns = [data.samples[c].to_list() if c in data.samples.columns else None for c in there]
            self.loaded[name] = data, Batch.from_columns(*columns)
        return self.loaded[name]

    def score(self, case: Case) -> list[float]:
        """Return one score per output, from the store where it has them."""
        key = case.set, case.references, case.spec
        if key not in self.scores:
            batch = first_references(self.get(case.set)[1], case.references)
            metric = metric_from_spec(case.spec)
            if case.spec != "length" and self.runner.lacks(metric, batch):
                self.tell(f"{case.set}: {case.spec}")
                self._prepare(case.set)
            self.scores[key] = self.runner.score(metric, batch).values.tolist()
        return self.scores[key]

    def _prepare(self, name: str) -> None:
        """Announce all layers of this set to the encoder, so that one pass serves them."""
        for spec in {c.spec for c in cases() if c.set == name and c.spec != "length"}:
            metric_from_spec(spec).prepare(self.get(name)[1])

    def arrays(self, case: Case) -> tuple[Any, Any]:
        """Return metric and human scores, systems × inputs, with human outputs among the systems as in the paper."""
        return self._arrays(case, case.spec, self.score(case))

    def places(self, case: Case) -> tuple[Any, Any]:
        """Return the number of the sample in each cell (NaN: none), and the human scores."""
        x, z = self._arrays(case, "place", list(map(float, range(len(self.get(case.set)[1])))))
        return x[0], z

    def _arrays(self, case: Case, name: str, values: list[float]) -> tuple[Any, Any]:
        data, _ = self.get(case.set)
        panel = data.with_scores({name: values}).panel(case.human, metrics=[name], keep_human=True)
        x, z = panel.stacked(), panel.human
        return (x, z) if case.half is None else (x[:, :, case.half :: 2], z[:, case.half :: 2])


def first_references(batch: Batch, most: int) -> Batch:
    """Select the first references of each sample (0: all); the texts and their vectors stay shared."""
    if not most:
        return batch
    places = [np.arange(a, min(a + most, b)) for a, b in pairwise(batch.start.tolist())]
    start = np.cumsum([0, *map(len, places)]).astype(np.int64)
    return replace(batch, reference=batch.reference[np.concatenate(places)], start=start, _kept={})


def correlations(sets: Sets, case: Case, draws: int, seed: int) -> Row:
    """Compute six correlations of a case, the first with its 95% bootstrap confidence interval over inputs."""

    x, z = sets.arrays(case)
    values = evaluate(x, z, [Measure.parse(m) for m in MEASURES]).value[0]
    low = high = float("nan")
    if draws:
        ends = bootstrap(x, z, MEASURES[:1], how="inputs", draws=draws, seed=seed).interval()
        low, high = float(ends.low[0, 0]), float(ends.high[0, 0])
    half = {None: "", 0: " (even inputs)", 1: " (odd inputs)"}[case.half]
    return {
        "table": case.table,
        "set": case.set + half,
        "aspect": case.aspect,
        "references": case.references or None,
        "metric": case.spec,
        "pearson": float(values[0]),
        "low": low,
        "high": high,
        "spearman": float(values[1]),
        "kendall": float(values[2]),
        "system pearson": float(values[3]),
        "system spearman": float(values[4]),
        "system kendall": float(values[5]),
        "by": "nlgauge",
        "chosen": _role(case),
    }


def _role(case: Case) -> str:
    """Return whether this number was used in the selection of settings."""
    if case.spec == "length":
        return ""
    on = CHOSEN_ON["dialogue" if "dialogue" in case.spec else case.aspect]
    if case.spec == ABSTRACTIVE:
        on = "qags-xsum"
    if "even" in on:
        if case.aspect == "relevance" and case.references == 1:
            return "other references" if case.half == 0 else "reported" if case.half else "half other references"
        return {None: "half chosen here", 0: "chosen here", 1: "reported"}[case.half]
    # Table F.6 has other aspects than the one on which its settings were selected.
    return "chosen here" if on == case.set and "dialogue" not in case.spec else "reported"


def published(table: str, name: str, aspect: str, references: int) -> list[Row]:
    """Return the paper's rows for a set, an aspect and a number of references."""
    names = ["pearson", "spearman", "kendall", "system pearson", "system spearman", "system kendall"]
    return [
        {
            "table": r["table"],
            "set": r["set"],
            "aspect": r["aspect"],
            "references": r.get("references"),
            "metric": r["metric"],
            **dict(zip(names, r["values"], strict=False)),
            "by": "paper (best)" if r.get("best") else "paper",
        }
        for r in PAPER["rows"]
        if (r["table"], r["set"], r["aspect"]) == (table, name, aspect) and r.get("references", 0) == references
    ]


def correlation_table(sets: Sets, draws: int = 1000, seed: int = 0, only: Iterable[str] = ()) -> Table:
    """Return our rows and the paper's rows."""
    rows: list[Row] = []
    seen = set()
    for case in cases():
        if only and case.set not in only:
            continue
        about = case.table, case.set, case.aspect, case.references
        if about not in seen:
            seen.add(about)
            rows += published(*about)
        rows.append(correlations(sets, case, draws, seed))
    return Table(
        "Information alignment by embedding matching: correlation with human ratings (deng2021, Tables D.1-F.6)",
        rows,
        method="pearson, spearman, kendall over all outputs (global level; 'sample-level' in the paper), people "
        f"among the systems kept; low, high: 95% percentile bootstrap over inputs, {draws} draws, seed {seed}.",
        notes=[
            f"settings chosen on: {', '.join(f'{a}: {s}' for a, s in CHOSEN_ON.items())}; abstractive: qags-xsum; "
            "see `nlgauge reproduce deng2021 choice`."
        ],
        signature=metric_from_spec("ctc").signature,
    )


def ablation_table(sets: Sets, only: Iterable[str] = ()) -> Table:
    """Return Tables 1, 2, 3 and F.5: other directions, sum for product, mean for sum, swapped formulas; our
    settings.
    """
    rows: list[Row] = []
    for given in PAPER["ablations"]:
        if only and given["set"] not in only:
            continue
        metric: Any = metric_from_spec(f"ctc(aspect={given['aspect']!r})")
        spec = align_spec(given["variant"], metric.settings())
        refs = 11 if given["aspect"] == "relevance" else 0
        result = correlations(sets, Case(given["table"], given["set"], given["aspect"], spec, refs), 0, 0)
        rows.append(
            {
                "table": given["table"],
                "set": given["set"],
                "aspect": given["aspect"],
                "variant": given["variant"],
                "paper E": given["E"],
                "ours E": result["pearson"],
                "definition": bool(given.get("ours")),
            }
        )
    return Table(
        "Ablations of deng2021 with E, global Pearson", rows, method="the settings of the aspect, other formulas."
    )


@further(
    "deng2021", "estimators", title="Embedding matching (E) and the paper's rows, with confidence intervals", sets=SETS
)
def study(sources: Sources, only: Sequence[str] = (), draws: int = 1000, seed: int = 0) -> list[Table]:
    """Compute correlations and ablations of all sets or `only` some; scores are cached, so a second run is fast."""
    sets = Sets(sources)
    tables = [correlation_table(sets, draws, seed, only), ablation_table(sets, only)]
    return [table for table in tables if table.rows]
