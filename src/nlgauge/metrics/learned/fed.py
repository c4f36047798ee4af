"""Likelihood of follow-ups that praise or criticize the response: FED with DialoGPT, and `follow-up` with any model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Literal

from nlgauge.errors import NameUnknown
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import UNDEFINED, Usable, fold
from nlgauge.metrics.learned.language_model import WEIGHTS, WINDOWS, Causal
from nlgauge.models.causal import TokenLogs, answers
from nlgauge.registry import did_you_mean
from nlgauge.text.batch import Batch

Turns = dict[str, dict[str, list[str]]]
END = "<|endoftext|>"
follow_ups = partial(
    metric,
    family="dialogue",
    needs=("source",),
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="mehri-eskenazi-2020-unsupervised",
    extra="neural",
)


@cache
def turns(which: str) -> Turns:
    """Return the follow-ups of a satisfied and a dissatisfied listener for each aspect.

    'fed' gives the follow-ups of the paper, 'ours' follow-ups in our own words.
    """
    result: dict[str, Turns] = json.loads(Path(__file__).with_name("follow_ups.json").read_text("utf-8"))
    return result[which]


class FollowUps(Causal):
    """Mean log-likelihood of the positive follow-ups minus that of the negative ones."""

    aspect: str
    over: str
    undefined = UNDEFINED

    @property
    def signature(self) -> str:
        return self.signed(aspect=self.aspect, over=self.over)

    def turns(self) -> dict[str, list[str]]:
        """Return the follow-ups of the aspect, by 'positive' and 'negative'."""
        raise NotImplementedError

    def before(self, history: str, response: str) -> str:
        """Return the dialogue up to the follow-up, as the model reads it."""
        raise NotImplementedError

    def prepare(self, batch: Batch) -> None:
        """Register all follow-ups of a run before the first metric is scored, so that a dialogue is read once for all
        aspects.
        """
        self.wanted(batch).update((turn, None) for text in self.turns().values() for turn in text)

    def wanted(self, batch: Batch) -> dict[str, None]:
        """Return the follow-ups requested by any metric of the run, in a dict that they share."""
        made: dict[str, None] = {}
        return batch.view(("follow-ups", self.facts.name, self.lm), lambda _: made)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        self.prepare(batch)
        dialogues = [self.before(s.source, s.output) for s in found.samples]
        lm = answers(batch, self.lm)
        whole = lm.of([("", d.rstrip(" ")) for d in dialogues]) if self.over == "dialogue" else []
        lm.of([(d, turn) for d in dialogues for turn in self.wanted(batch)])
        total = [0.0] * len(dialogues)
        for sign, kind in ((1.0, "positive"), (-1.0, "negative")):
            text = self.turns()[kind]
            if not text:
                continue  # an aspect may have one kind only; that kind alone is then the score
            told = lm.of([(d, turn) for d in dialogues for turn in text])
            found.note((t.windows for t in told), WINDOWS, [len(text)] * len(dialogues))
            each = [_mean(t, whole[k // len(text)] if whole else None) for k, t in enumerate(told)]
            means = fold(each, [len(text)] * len(dialogues), "mean")
            total = [a + sign * b for a, b in zip(total, means, strict=True)]
        return total


def _mean(turn: TokenLogs, dialogue: TokenLogs | None) -> float:
    if dialogue is None:
        return turn.mean
    return (dialogue.sum + turn.sum) / (len(dialogue.logs) + len(turn.logs))


def lines(history: str) -> Sequence[str]:
    """Return the turns of a dialogue: its nonempty lines."""
    return [line.strip() for line in history.splitlines() if line.strip()]


@follow_ups("fed", weights="microsoft/DialoGPT-large (or another DialoGPT) by name or folder")
class Fed(FollowUps):
    """Likelihood of praising minus criticizing follow-ups under DialoGPT, with the paper's turns, after history and
    response.

    aspect: 'interesting' and 'informative' are baselines of Deng et al. (2021); there are 16 more. over: 'dialogue' is
    the mean over all tokens, dialogue included, as in the authors' program; 'turn' over the follow-up alone. For a
    model other than DialoGPT see follow-up.
    """

    aspect: str = "interesting"
    over: Literal["dialogue", "turn"] = "dialogue"
    lm: str = "microsoft/DialoGPT-large"

    instead = "follow-up"

    def check(self) -> None:
        if self.aspect not in (available := turns("fed")):
            raise NameUnknown(
                f"fed: no aspect '{self.aspect}'.{did_you_mean(self.aspect, available)} "
                f"Expected one of {', '.join(available)}."
            )

    def turns(self) -> dict[str, list[str]]:
        return turns("fed")[self.aspect]

    def before(self, history: str, response: str) -> str:
        # DialoGPT's end token is between turns; the first one is the model's start token.
        return "".join(f" {turn} {END}" for turn in (*lines(history), response)) + " "


@follow_ups("follow-up", weights=WEIGHTS)
class FollowUp(FollowUps):
    """Likelihood of praising minus criticizing follow-ups under any causal language model: FED's idea, not FED.

    The dialogue is read as lines, one per turn; the follow-ups are our own. aspect: 'interesting' or 'informative'.
    """

    aspect: Literal["interesting", "informative"] = "interesting"
    over: Literal["turn", "dialogue"] = "turn"
    lm: str = "smollm2"

    def turns(self) -> dict[str, list[str]]:
        return turns("ours")[self.aspect]

    def before(self, history: str, response: str) -> str:
        return "".join(f"{turn}\n" for turn in (*lines(history), response))
