"""LLM judges: any OpenAI-compatible endpoint as a metric."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, Metric, metric, signature, spaceless
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.judge.protocol import JudgeProtocol
from nlgauge.metrics.judge.replies import Memory
from nlgauge.metrics.judge.reply_parser import checked_pattern
from nlgauge.metrics.judge.rubric import RubricProtocol
from nlgauge.metrics.judge.scale import Scale
from nlgauge.metrics.judge.secret import checked_url, find_key
from nlgauge.metrics.judge.task import HEADING, MODES, RUBRIC_MODES, Setting, load_task, shipped, template
from nlgauge.options import option
from nlgauge.spec import format_spec
from nlgauge.text.batch import Batch

BASE_URL = "NLGAUGE_BASE_URL"
MAX_NAME_LENGTH = 60  # characters of a name


@metric(
    "judge",
    family="judge",
    needs=(),
    bounds=(float("-inf"), float("inf")),
    year=2023,
    cite="liu-etal-2023-g-eval",
    extra="judges",
    weights="a model behind an OpenAI-compatible endpoint",
)
class Judge(Metric):
    """An LLM judge that rates each output (or compares two) on one aspect; task: a shipped one or your own YAML
    file.
    """

    task: str = "summarization"
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
    pattern: str = ""  # a regular expression whose first group is the rating
    prompt: str = ""  # template file that replaces the task's
    setting: str = ""  # scale, draws and temperature by a name that the task has, as GPT4o_T=1_1_10 of gao2025
    name: str = ""  # name of its column and rows

    def check(self) -> None:
        if self.name.endswith((".yaml", ".yml")) or self.name in shipped():
            raise NlgaugeError(
                f"judge: name='{self.name}' is the judge's display name; the task is task='{self.name}'."
            )
        self.decided()  # raises for invalid values

    def own_facts(self, facts: Facts) -> Facts:
        decided = self.decided()
        points, pairwise = decided.scale, decided.mode == "pairwise"
        return replace(
            facts,
            needs=frozenset({"output"} if decided.mode in RUBRIC_MODES else {"output", *decided.task.shows}),
            corpus=pairwise,
            bounds=(0.0, 1.0) if pairwise else (points.low, points.high),
        )

    def decided(self) -> JudgeProtocol:
        """Return the judge with all settings resolved: from the spec, else the task's file, else the environment."""
        task = load_task(self.task)
        named = task.setting(self.setting) if self.setting else Setting()
        if self.references and "references" not in task.shows:
            task = replace(task, shows={**task.shows, "references": f"Reference {task.output.lower()}"})
        mode = self.mode or named.mode or task.mode
        if mode not in MODES:
            raise NlgaugeError(f"judge: mode '{mode}'; expected one of {', '.join(MODES)}.")
        if self.prompt:
            task = replace(task, prompts={**task.prompts, mode: template(Path(self.prompt), Path(self.prompt).name)})
        fill = self.fill or named.fill
        if fill not in ("", "random"):
            raise NlgaugeError(f"judge: fill='{fill}'; omit it, or use 'random' as in gao2025.")
        if fill and mode in RUBRIC_MODES:
            raise NlgaugeError("judge: fill replaces ratings; a missing verdict on an item of a rubric stays missing.")
        base = self.base_url or task.base_url or own_endpoint()
        n = self.n or named.n or task.n
        text = self.temperature if self.temperature >= 0 else named.temperature
        # Several draws at temperature 0 would be one reply: gao2025 draws ten times at T=1.
        temperature = text if text >= 0 else (task.temperature or (1.0 if n > 1 else 0.0))
        protocol = RubricProtocol if mode in RUBRIC_MODES else JudgeProtocol
        return protocol(
            task,
            task.aspect(self.aspect),
            self.model or named.model or task.model or os.environ.get("NLGAUGE_MODEL", ""),
            f"{checked_url(base)}/chat/completions" if base else "",
            Scale.parse(self.scale or named.scale or task.scale),
            mode,
            n,
            temperature,
            fill,
            self.structured,
            self.rivals or None,
            checked_pattern(self.pattern, mode),
        )

    def __str__(self) -> str:
        """Return the name, which does not depend on endpoint or settings and is used in tables and pages."""
        if self.name:
            return self.name
        decided = self.decided()
        model = re.sub(r"[^\w.-]+", "-", decided.model.rstrip("/").rpartition("/")[2]).strip("-")
        if self.setting:
            named = decided.task.setting(self.setting)
            # The paper's name is used for the paper's model only; other models are named.
            own = bool(named.model) and not self.model
            model = self.setting if own else f"{model or 'judge'}_{named.name}"
        return f"{model or 'judge'}-{decided.aspect}"[:MAX_NAME_LENGTH]

    @property
    def spec(self) -> str:
        """The spec that creates this judge again. It may contain an endpoint, so it is never in a report."""
        return format_spec("judge", self)

    def file_endpoint(self) -> str:
        """Return the endpoint of the task's file that the user did not confirm; '' without one."""
        told = "" if self.base_url else load_task(self.task).base_url.rstrip("/")
        return "" if told == own_endpoint().rstrip("/") else told

    def ready(self) -> None:
        decided = self.decided()
        if not decided.model:
            raise NlgaugeError("judge: no model. Give model='…', or set NLGAUGE_MODEL.")
        if not decided.url:
            raise NlgaugeError(
                f"judge: no endpoint. Give base_url='…', or set {BASE_URL}, as in http://localhost:8000/v1."
            )

        if told := self.file_endpoint():
            raise NlgaugeError(
                f"judge: the file {self.task} names the endpoint {told}. A file does not decide where your outputs "
                f"and keys go; if it is right: {option('allow_endpoint', told)}, or base_url='{told}' in the "
                "spec."
            )

    @property
    def signature(self) -> str:
        d = self.decided()
        text = "\n".join(
            [d.task.prompt(d.mode), d.task.system, d.task.task, d.task.aspects[d.aspect], str(d.task.shows)]
            + ([d.task.heading] if d.task.heading != HEADING else [])
        )
        return signature(
            model=d.model,
            aspect=d.aspect,
            scale=d.scale,
            mode=d.mode,
            n=d.n,
            temperature=d.temperature,
            prompt=digest(text, 4).hex(),
            fill=d.fill or None,
            structured=d.structured or None,
            rivals=d.rivals,
            pattern=spaceless(d.pattern) or None,
            endpoint=digest(d.url, 4).hex() if d.url else None,
        )

    def score(self, batch: Batch) -> Scores:
        """Return the scores without storing replies; `nlgauge.scoring` stores every reply."""
        # Imported late: the client loads asyncio and ssl, which a list of metrics or a plan does not need.
        from nlgauge.metrics.judge.client import Asking, ask

        self.ready()
        decided = self.decided()
        return decided.scores(batch, ask(decided.requests(batch), Memory(), Asking(key=find_key(decided.url))))


def own_endpoint() -> str:
    """Return the endpoint from the environment; '' without one."""
    return os.environ.get(BASE_URL) or os.environ.get("OPENAI_BASE_URL") or ""
