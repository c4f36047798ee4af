"""RewardBench: `MODEL_outputs.jsonl`, a reward model's scores of a chosen and a rejected answer a line."""

from __future__ import annotations

from pathlib import Path

from nlgauge.data.comparisons import FIRST, SECOND, Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers.logs._logs import text_of
from nlgauge.data.records import Record, number, read_records
from nlgauge.registry import register

KEYS = {"scores_chosen", "scores_rejected", "text_chosen", "text_rejected"}
SIDES = ("chosen", "rejected")


@register("reader", "rewardbench", only="json")
class RewardBench(Reader):
    """RewardBench outputs (MODEL_outputs.jsonl): the reward model is a metric, chosen over rejected is people's."""

    takes = Takes(
        "`MODEL_outputs.jsonl` of `rewardbench`; the file's name is the model's",
        people="the chosen answer over the rejected one",
        scores="`scores_chosen` and `scores_rejected`, of the metric MODEL",
        tested="rewardbench 0.1.4",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return peek.keys >= KEYS

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        choices, found = Choices(path.name), {}
        for record in read_records(path, encoding):
            source = text_of(record.values.get("prompt"))
            systems = {side: str(record.values.get(f"{side}_model") or side) for side in SIDES}
            if len(set(systems.values())) < 2:
                systems = {side: side for side in SIDES}
            shared = {"source": source, "subset": record.maybe("subset", str)}
            outputs = {systems[s]: {"output": _answer(record, s), **shared} for s in SIDES}
            given = choices.place(str(record.values.get("id", record.number)), outputs)
            # Nobody knows which was shown first: in turns, so that no order looks preferred.
            order = [systems["chosen"], systems["rejected"]]
            turned = record.number % 2 == 0
            choices.choose(
                given,
                *(order[::-1] if turned else order),
                aspect="preference",
                rater=None,
                preferred=SECOND if turned else FIRST,
            )
            for side in SIDES:
                key = f"scores_{side}"
                value = record.values.get(key)
                value = value[0] if isinstance(value, list) and len(value) == 1 else value
                found[systems[side], given] = number(f"{record.where}, key '{key}'", value)
        model = path.name.partition(".jsonl")[0].removesuffix("_outputs")
        data = choices.dataset(
            ["that the chosen answer is better is taken for people's choice; which was shown first is not known"]
        )
        return data.with_scores({model: [found[key] for key in data.samples.select("system", "input").iter_rows()]})


def _answer(record: Record, side: str) -> str | None:
    """The answer alone where the file has it, else the conversation that was scored."""
    alone = record.values.get(side)
    return alone if isinstance(alone, str) else text_of(record.values.get(f"text_{side}"))
