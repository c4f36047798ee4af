"""Correlations of language-model metrics: ours, those of scores released with nimah2023, and those printed in
deng2021.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge import Dataset
from nlgauge.plugins import Row, number
from nlgauge.stats import Measure, bootstrap, evaluate
from nlgauge_papers import published_rows
from nlgauge_papers.common import Array

MEASURES = (
    "global/pearson",
    "global/spearman",
    "global/kendall",
    "system/pearson",
    "system/spearman",
    "system/kendall",
    "input/kendall",
)
ASPECTS = {"summeval": ("coherence", "consistency", "fluency", "relevance")}
OURS, RELEASED, PRINTED = "computed here", "scores released with nimah2023", "printed in deng2021"
# Columns of the sets with scores of other language models, and the name of the model.
COLUMNS = {
    "perplexity": "Perplexity (GPT-2)",
    "overall_unieval": "UniEval (T5-large)",
    "cohere_met": "CTRLEval coherence (PEGASUS)",
    "consist_met": "CTRLEval consistency (PEGASUS)",
    "relev_met": "CTRLEval relevance (PEGASUS)",
}
MODELS = {
    "FED": "DialoGPT",
    "USR": "RoBERTa, fine-tuned",
    "SummaQA": "BERT-large",
    "BLANC": "BERT-base",
    "FactCC": "BERT-base",
}
TABLES = {
    ("usr-persona", "Engaging"): "F.1", ("usr-persona", "UsesKnowledge"): "F.2", ("usr-topical", "Engaging"): "F.3",
    ("usr-topical", "UsesKnowledge"): "F.4", ("summeval", "consistency"): "D.1", ("summeval", "relevance"): "D.2",
}  # fmt: skip
BY_ASPECT = "F.6"  # the other aspects of dialogue, Pearson only
CHATS = {"PersonaChat": "usr-persona", "TopicalChat": "usr-topical"}


def correlated(data: Dataset, names: Sequence[str], aspect: str, draws: int, seed: int) -> list[tuple[str, int, Row]]:
    """Return each metric with its number of outputs and every measure with its confidence interval."""

    panel = data.panel(aspect, metrics=list(names), keep_human=True)
    results = []
    for name, whole in zip(panel.names, panel.stacked(), strict=True):
        # A metric that was run on some inputs only is evaluated on those.
        there = ~np.isnan(whole).all(axis=0)
        if not there.any():
            continue
        x, z = whole[None, :, there], panel.human[:, there]
        value = evaluate(x, z, [Measure.parse(m) for m in MEASURES]).value[0]
        ends = bootstrap(x, z, list(MEASURES), how="inputs", draws=draws, seed=seed).interval()
        row: Row = {}
        for m, measure in enumerate(MEASURES):
            row |= {
                measure: float(value[m]),
                f"{measure} low": float(ends.low[0, m]),
                f"{measure} high": float(ends.high[0, m]),
            }
        results.append((name, int((~np.isnan(x)).sum()), row))
    return results


def _aspects(data: Dataset, name: str) -> Sequence[str]:
    return ASPECTS.get(name, tuple(data.aspects))


def ours(data: Dataset, name: str, columns: dict[str, Array], draws: int, seed: int) -> list[Row]:
    """Return one row for each metric and aspect, from our own scores."""
    # A column 'perplexity' of the set, from another model, is replaced here; `released` shows it.
    own = data.with_scores({k: v.tolist() for k, v in columns.items()})
    return [
        {"set": name, "metric": metric, "aspect": aspect, "from": OURS, "outputs": n, **row}
        for aspect in _aspects(data, name)
        for metric, n, row in correlated(own, list(columns), aspect, draws, seed)
    ]


def released(data: Dataset, name: str, draws: int, seed: int) -> list[Row]:
    """Return one row for each metric and aspect, from the scores of other models that came with the set."""
    available = [c for c in COLUMNS if c in data.metrics]
    return [
        {"set": name, "metric": COLUMNS[metric], "aspect": aspect, "from": RELEASED, "outputs": n, **row}
        for aspect in (_aspects(data, name) if available else ())
        for metric, n, row in correlated(data, available, aspect, draws, seed)
    ]


def printed(name: str) -> list[Row]:
    """Return what deng2021 prints for metrics with language models, classifiers and question answering."""
    rows: dict[tuple[str, str], Row] = {}

    def row(metric: str, aspect: str, table: str) -> Row:
        model = next(m for key, m in MODELS.items() if metric.startswith(key))
        fresh: Row = {
            "set": name,
            "metric": f"{metric} ({model})",
            "aspect": aspect,
            "from": f"{PRINTED}, Table {table}",
        }
        return rows.setdefault((metric, aspect), fresh)

    for (of, aspect), table in TABLES.items():
        for cell in _cells(table) if of == name else ():
            level = "global" if cell["level"] == "sample" else cell["level"]
            row(cell["metric"], aspect, table)[f"{level}/{cell['coefficient']}"] = float(cell["printed"])
    for cell in _cells(BY_ASPECT):
        if CHATS[cell["set"]] == name:
            row(cell["metric"], cell["aspect"], BY_ASPECT)["global/pearson"] = float(cell["printed"])
    return list(rows.values())


def _cells(table: str) -> list[dict[str, str]]:
    return [cell for cell in published_rows("deng2021", table) if cell["metric"].startswith(tuple(MODELS))]


def shown(rows: Sequence[Row]) -> list[str]:
    """Return columns for display: interval limits only next to the first measure."""
    first = ["set", "metric", "aspect", "from", "outputs", MEASURES[0], f"{MEASURES[0]} low", f"{MEASURES[0]} high"]
    return [c for c in [*first, *MEASURES[1:]] if any(c in r for r in rows)]


def wide(rows: Sequence[Row]) -> list[str]:
    """Return Markdown, one row per metric and one column per aspect: Pearson [low high] / Spearman / Kendall;
    system.
    """
    lines: list[str] = []
    for name in dict.fromkeys(str(r["set"]) for r in rows):
        own = [r for r in rows if r["set"] == name]
        aspects = list(dict.fromkeys(str(r["aspect"]) for r in own))
        for title, level in (("over all outputs", "global"), ("over the means of systems", "system")):
            some = [r for r in own if any(str(k).startswith(f"{level}/") for k in r)]
            lines += ["", f"**{name}**, {title}", "", f"| metric | outputs | {' | '.join(aspects)} |"]
            lines.append("| --- | ---: |" + " ---: |" * len(aspects))
            for metric in dict.fromkeys(str(r["metric"]) for r in some):
                here = {str(r["aspect"]): r for r in some if r["metric"] == metric}
                outputs = max((int(r["outputs"]) for r in here.values() if "outputs" in r), default=0)
                cells = [_cell(here.get(a, {}), level) for a in aspects]
                spec = f"`{metric}`" if any(r["from"] == OURS for r in here.values()) else metric
                lines.append(f"| {spec} | {outputs or '–'} | {' | '.join(cells)} |")
    return lines


def _cell(row: Row, level: str) -> str:
    def said(key: str) -> str:
        return number(row.get(key), 2)

    p = f"{level}/pearson"
    if p not in row:
        return "–"
    between = f" [{said(f'{p} low')} {said(f'{p} high')}]" if f"{p} low" in row else ""
    rest = [said(f"{level}/{c}") for c in ("spearman", "kendall")]
    return " / ".join([f"{said(p)}{between}", *(r for r in rest if r != "–")])
