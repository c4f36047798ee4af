"""The answer as data: marks, metrics, aspects, report. The page, the terminal and results.json read these objects."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

RELIABLE_FROM = 0.75  # of every share: the whole interval must lie at it or above


@dataclass(frozen=True)
class Mark:
    """Badge of one metric for one use, and the value with its interval on which the badge is based."""

    badge: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    positives: int | None = None  # bad outputs, or failures that humans labeled, where the share rests on them
    positive_systems: int | None = None
    no_advantage: bool = False  # a baseline that knows nothing reaches as much


@dataclass(frozen=True)
class MetricAnswer:
    """One row of the summary at the top of the report: the statistic of the aspect, and badges."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    may_be_best: bool
    clearly_best: bool
    lower_is_better: bool
    marks: dict[str, Mark]
    acc_eq: float | None = None  # with the tie threshold of other inputs, where many human ratings are tied
    figures: dict[str, Mark] = field(default_factory=dict)  # of a judge: accuracy, precision on failures …
    counts: dict[str, int] = field(default_factory=dict)  # of a judge: the cells of the confusion matrix
    usual: str = ""  # of a judge: the majority-class verdict
    more_labels: int | None = None  # that would decide about recall on failures; 0 where it is decided

    @property
    def rates(self) -> list[tuple[str, Mark]]:
        """Return the statistics of a judge that answers pass and fail, as the screen lists them."""
        rows = (
            ("recall on failures", self.marks.get("catch failures")),
            ("precision on failures", self.figures.get("precision on failures")),
            ("recall on passes", self.marks.get("pass good answers")),
            ("accuracy", self.figures.get("accuracy")),
        )
        return [(name, mark) for name, mark in rows if mark is not None]

    @property
    def majority(self) -> Mark | None:
        """Return the accuracy of the majority-class baseline."""
        return self.figures.get("majority-class baseline")


@dataclass(frozen=True)
class AspectAnswer:
    """Answer for one aspect (and group). `sentences` has one per use, and the conclusion under the empty key."""

    about: str
    measure: str  # what `value` of the metrics is, what orders them and what is tested
    judged: bool
    tested: bool  # whether differences between the metrics could be tested
    baselines: dict[str, float]
    leaders: dict[str, str]  # other measure -> the metric that leads by it
    influence: str  # the value of the best metric without outlying systems, as a sentence
    metrics: list[MetricAnswer]
    uses: list[str]
    warning: str | None
    rated_by: str  # "the human ratings", or whose ratings they are
    chance: float
    sentences: dict[str, str] = field(default_factory=dict)

    @property
    def best(self) -> MetricAnswer | None:
        """Return the first metric that has a value."""
        return next((m for m in self.metrics if m.value is not None), None)


@dataclass(frozen=True)
class ReportAnswer:
    """Summary at the top of a report: the evaluated data, warnings, and an answer per aspect."""

    evaluated: str
    failures: list[str]  # metrics without a value on more than 1% of the outputs: they come first
    warnings: list[str]
    aspects: list[AspectAnswer]
    choices: list[str]  # what choices between two outputs say, where there are any
    changes: list[str] = field(default_factory=list)  # since the earlier run of a judge
    limits: dict[str, float] = field(default_factory=lambda: {"reliable": RELIABLE_FROM})

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, as results.json holds it."""
        return asdict(self)

    def of(self, about: str) -> AspectAnswer | None:
        """Return the answer for an aspect, if there is one."""
        return next((each for each in self.aspects if each.about == about), None)
