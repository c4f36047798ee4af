"""LLM judges: any OpenAI-compatible endpoint as a metric."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nlgauge.errors import NlgaugeError
from nlgauge.metrics._base import Batch, Facts, Scores, metric, signature

if TYPE_CHECKING:
    from nlgauge.judges.judge import Judge as Decided

BASE_URL = "NLGAUGE_BASE_URL"


class _WithFacts:
    """Says to the type checker what the decorator sets."""

    facts: Facts


@metric("judge", family="judge", needs=(), bounds=(float("-inf"), float("inf")), year=2023, cite="liu-etal-2023-g-eval",
        extra="judges", weights="a model behind an OpenAI-compatible endpoint")  # fmt: skip
@dataclass(frozen=True)
class Judge(_WithFacts):
    """A language model rates each output (or compares two) on one aspect; name: a shipped task or your own YAML."""

    name: str = "summarisation"
    aspect: str = ""
    model: str = ""
    scale: str = ""
    n: int = 0
    temperature: float = -1.0
    mode: str = ""
    base_url: str = ""
    structured: bool = False
    fill: str = ""
    rivals: int = 0
    references: bool = False

    def __post_init__(self) -> None:
        decided = self.decided()
        points = decided.scale
        low, high = (0.0, 1.0) if decided.mode == "pairwise" else (points.low, points.high)
        facts = replace(
            type(self).facts,
            needs=frozenset({"output", *decided.task.shows}), bounds=(low, high), corpus=decided.mode == "pairwise",
        )  # fmt: skip
        object.__setattr__(self, "facts", facts)

    def decided(self) -> Decided:
        """What the spec says, else the YAML, else the environment."""
        from nlgauge.judges.judge import Judge as Decided
        from nlgauge.judges.scale import Scale
        from nlgauge.judges.task import MODES, load_task

        task = load_task(self.name)
        if self.references and "references" not in task.shows:
            task = replace(task, shows={**task.shows, "references": f"Reference {task.output.lower()}"})
        mode = self.mode or task.mode
        if mode not in MODES:
            raise NlgaugeError(f"judge: mode '{mode}'; there are {', '.join(MODES)}.")
        if self.fill not in ("", "random"):
            raise NlgaugeError(f"judge: fill='{self.fill}'; leave it out, or 'random' as in paper 002.")
        base = (
            self.base_url
            or task.base_url
            or os.environ.get(BASE_URL)
            or os.environ.get("OPENAI_BASE_URL")
            or ""
        )
        n = self.n or task.n
        # Several draws of one temperature-0 reply would be one reply: paper 002 draws ten times at T=1.
        temperature = (
            self.temperature if self.temperature >= 0 else (task.temperature or (1.0 if n > 1 else 0.0))
        )
        return Decided(
            task, task.aspect(self.aspect), self.model or task.model or os.environ.get("NLGAUGE_MODEL", ""),
            f"{base.rstrip('/')}/chat/completions" if base else "", Scale.parse(self.scale or task.scale), mode, n,
            temperature, self.fill, self.structured, self.rivals or None,
        )  # fmt: skip

    def ready(self) -> None:
        decided = self.decided()
        if not decided.model:
            raise NlgaugeError("judge: which model? Say model='…', or set NLGAUGE_MODEL.")
        if not decided.url:
            raise NlgaugeError(
                f"judge: which endpoint? Say base_url='…', or set {BASE_URL}, as in http://localhost:8000/v1."
            )

    @property
    def signature(self) -> str:
        d = self.decided()
        said = "\n".join(
            [d.task.prompt(d.mode), d.task.system, d.task.task, d.task.aspects[d.aspect], str(d.task.shows)]
        )
        return signature(
            model=d.model, aspect=d.aspect, scale=d.scale, mode=d.mode, n=d.n, temperature=d.temperature,
            prompt=hashlib.blake2b(said.encode(), digest_size=4).hexdigest(), fill=d.fill or None,
        )  # fmt: skip

    def score(self, batch: Batch) -> Scores:
        """Without a durable store: `nlgauge.scoring` keeps every reply, this does not."""
        from nlgauge.judges.client import Asking, ask
        from nlgauge.judges.replies import Memory
        from nlgauge.judges.secret import find_key

        decided = self.decided()
        return decided.scores(batch, ask(decided.requests(batch), Memory(), Asking(key=find_key())))
