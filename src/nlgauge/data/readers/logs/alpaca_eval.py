"""AlpacaEval: `annotations.json`, one pairwise comparison of two models' outputs per record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from nlgauge.data.comparisons import FIRST, SECOND, TIE, Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.records import Record, number, read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

MIDDLE = 1.5  # 1 is the first output, 2 the second; a weighted annotator gives any value in between


@register("reader", "alpaca-eval", only="json")
class AlpacaEval(Reader):
    """AlpacaEval annotations.json: pairwise comparisons; annotators with names are models, numbered ones are human."""

    takes = Takes(
        "`annotations.json` of `alpaca_eval`",
        human="comparisons by numbered annotators (AlpacaFarm's crowd)",
        scores="comparisons by annotators with names; 1 is the first output, 2 the second, 1.5 and 0 are ties",
        tested="alpaca_eval 0.6.6",
    )

    keys = ({"instruction", "output_1", "output_2", "preference"},)

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        choices, counts = Choices(path.name), Counter[str]()
        models: set[str] = set()
        for record in read_records(path, encoding):
            preference = number(f"{record.where}, key 'preference'", record.values.get("preference"))
            if preference is None:
                counts["pairs without a preference were left out"] += 1
                continue
            if preference and not 1 <= preference <= 2:
                raise DataError(
                    f"{record.where}, key 'preference': found {preference:g}, expected 1 (first) to 2 (second), "
                    "or 0 (tie)."
                )
            if preference not in (0, 1, 2, MIDDLE):
                counts["weighted preferences were rounded to the preferred side"] += 1
            source = str(record.want("instruction", str))
            systems = [str(record.values.get(f"generator_{i}") or f"output_{i}") for i in (1, 2)]
            if systems[0] == systems[1]:
                counts["pairs of a model with itself were left out"] += 1
                continue
            outputs = {s: _sample(record, f"output_{i}", source) for i, s in enumerate(systems, 1)}
            who = record.values.get("annotator")
            if who is not None and not str(who).isdecimal():
                models.add(str(who))
            tie = preference in (0, MIDDLE)
            choices.choose(
                choices.place(source, outputs),
                *systems,
                aspect="preference",
                rater=None if who is None else str(who),
                preferred=TIE if tie else FIRST if preference < MIDDLE else SECOND,
            )
        data = choices.dataset([f"{n} {what}" for what, n in counts.items()])
        return replace(data, models=frozenset(models))


def _sample(record: Record, key: str, source: str) -> dict[str, Any]:
    return {"output": record.maybe(key, str), "source": source, "dataset": record.maybe("dataset", str)}
