"""The headline on real data sets: writes bench/trust_headlines.md.

    NLGAUGE_DATA=… python -m bench.headlines

For each set: the metric that leads by tau-b and the one that the headline names, with their ranks under several
measures; and the badges of a coin, a constant and the length of the output (or, without texts, a second coin), added as
metrics.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import nlgauge as ng
from bench._trust_page import table
from nlgauge.api.questions import select
from nlgauge.stats.correlation.measure import Measure, evaluate

# set -> aspect, the metric that leads by tau-b within inputs (`input/kendall`)
LEADERS = {
    "wmt23-en-de": ("mqm", "GEMBA-MQM-src"),
    "wmt23-zh-en": ("mqm", "GEMBA-MQM-src"),
    "summeval-table": ("coherence", "BLEU"),
    "usr-topical-scores": ("Understandable", "usr_mlm"),
    "hanna": ("Coherence", "ROUGE-WE-3 Recall"),
    "tac11": ("pyr", "MoverScore"),
}
MEASURES = (
    "input/pairwise-accuracy",
    "input/kendall",
    "input/acc-eq-calibrated",
    "input/pearson",
    "input/spearman",
    "global/kendall",
    "system/kendall",
    "item/kendall",
)


def ranks(data: Any, aspect: str) -> tuple[list[str], np.ndarray]:
    """Rank of every metric (rows) under every measure (columns)."""
    panel = data.panel(aspect)
    values = evaluate(panel.oriented(), panel.human, [Measure.parse(m) for m in MEASURES]).value
    return panel.names, 1 + (values[None, :, :] > values[:, None, :]).sum(axis=1)


def answer(data: Any, aspect: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        made = ng.report(select(data, aspect=aspect), out=Path(folder) / "page.html", quick=True)
    return made.answer.aspects[0]


def with_baselines(data: Any, seed: int = 7) -> Any:
    rng = np.random.default_rng(seed)
    rows = len(data)
    texts = data.samples["output"].str.len_chars() if "output" in data.samples.columns else None
    known = texts is not None and texts.null_count() < rows
    length = texts.cast(pl.Float64).to_list() if texts is not None and known else rng.normal(size=rows).tolist()
    added = {"a coin": rng.integers(0, 2, rows).astype(float).tolist(), "a constant": [1.0] * rows}
    return data.with_scores({**added, "length" if known else "a second coin": length})


def main() -> None:
    lines = [
        "## Real data",
        "",
        "The conclusion of `nlgauge run SET --quick` about one aspect; then the rank of the metric that leads by tau-b and "
        "of the one that the conclusion names, under several measures; then the badges of three added "
        '"metrics" that do not depend on quality, or only on length. Written by '
        "`python -m bench.headlines`.",
        "",
    ]
    for name, (aspect, metric) in LEADERS.items():
        data = ng.load(name)
        now = answer(data, aspect)
        names, places = ranks(data, aspect)
        leader = now.metrics[0].metric
        named = [metric, *([leader] if leader != metric else [])]
        baselines = answer(with_baselines(data), aspect)
        added = [m for m in baselines.metrics if m.metric in ("a coin", "a second coin", "a constant", "length")]
        uses = [use for use in baselines.uses if use != "replace an annotator"]
        lines += [
            f"### {name}, {aspect} ({len(names)} metrics)",
            "",
            now.sentences[""],
            "",
            *table(["rank of", *(f"`{m}`" for m in MEASURES)], [[m, *places[names.index(m)].tolist()] for m in named]),
            *table(
                ["added", "pairwise accuracy", *uses],
                [
                    [
                        m.metric,
                        "–" if m.value is None else f"{m.value:.2f}",
                        *((m.marks[u].badge or "–") if u in m.marks else "–" for u in uses),
                    ]
                    for m in added
                ],
            ),
        ]
        print("\n".join(lines[-14:]), flush=True)
    (Path(__file__).parent / "trust_headlines.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
