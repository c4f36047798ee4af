"""RewardBench: `MODEL_outputs.jsonl`, a reward model's scores of a chosen and a rejected answer per line."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.comparisons import FIRST, SECOND, Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers.logs._logs import text_of
from nlgauge.data.records import Record, number, read_records
from nlgauge.registry import register

SIDES = ("chosen", "rejected")


@register("reader", "rewardbench", only="json")
class RewardBench(Reader):
    """RewardBench outputs (MODEL_outputs.jsonl): the reward model is a metric, the chosen answer a human preference."""

    takes = Takes(
        "`MODEL_outputs.jsonl` of `rewardbench`; the model is named after the file",
        human="the preference for the chosen over the rejected answer",
        scores="`scores_chosen` and `scores_rejected`, of the metric MODEL",
        tested="rewardbench 0.1.4",
    )

    keys = ({"scores_chosen", "scores_rejected", "text_chosen", "text_rejected"},)

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        choices, scores = Choices(path.name), {}
        for record in read_records(path, encoding):
            source = text_of(record.values.get("prompt"))
            systems = {side: str(record.values.get(f"{side}_model") or side) for side in SIDES}
            if len(set(systems.values())) < 2:
                systems = {side: side for side in SIDES}
            shared = {"source": source, "subset": record.maybe("subset", str)}
            outputs = {systems[s]: {"output": _answer(record, s), **shared} for s in SIDES}
            given = choices.place(str(record.values.get("id", record.number)), outputs)
            # The presentation order is unknown: it alternates, so that no position looks preferred.
            order = [systems["chosen"], systems["rejected"]]
            reversed_order = record.number % 2 == 0
            choices.choose(
                given,
                *(order[::-1] if reversed_order else order),
                aspect="preference",
                rater=None,
                preferred=SECOND if reversed_order else FIRST,
            )
            for side in SIDES:
                key = f"scores_{side}"
                value = record.values.get(key)
                value = value[0] if isinstance(value, list) and len(value) == 1 else value
                scores[systems[side], given] = number(f"{record.where}, key '{key}'", value)
        model = path.name.partition(".jsonl")[0].removesuffix("_outputs")
        data = choices.dataset(
            ["the chosen answer is taken as the human preference; the presentation order is unknown"]
        )
        return data.with_scores({model: [scores[key] for key in data.samples.select("system", "input").iter_rows()]})


def _answer(record: Record, side: str) -> str | None:
    """Return the answer alone if the file has it, else the conversation that was scored."""
    answer = record.values.get(side)
    return answer if isinstance(answer, str) else text_of(record.values.get(f"text_{side}"))
