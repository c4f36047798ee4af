"""A policy: which verdicts of a judge go through without a human, as a file that can be read, checked and applied."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.files import read_text
from nlgauge.data.units import KEY
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.types import Array
from nlgauge.writing import write_whole

VERSION = 1
DECISIONS = ("pass", "fail", "human")


@dataclass(frozen=True)
class Signal:
    """A judge's score, or the mean of several columns that are first brought to one scale; higher is better.

    name: in tables; columns: of scores; signs: -1 where lower is better; centers, scales: subtracted, divided by.
    """

    name: str
    columns: tuple[str, ...]
    signs: tuple[float, ...]
    centers: tuple[float, ...]
    scales: tuple[float, ...]

    @classmethod
    def of(cls, name: str, values: Mapping[str, Array], lower: Sequence[str] | frozenset[str] = ()) -> Signal:
        """Take one column as it is, or several with mean 0 and standard deviation 1 over all scored outputs."""
        signs = tuple(-1.0 if column in lower else 1.0 for column in values)
        if len(values) == 1:
            return cls(name, tuple(values), signs, (0.0,), (1.0,))
        centers = tuple(float(np.nanmean(v)) for v in values.values())
        scales = tuple(float(np.nanstd(v)) or 1.0 for v in values.values())
        return cls(name, tuple(values), signs, centers, scales)

    def value(self, values: Mapping[str, Array]) -> Array:
        """Compute the signal of each output; NaN where a column has no score."""
        parts = [
            sign * (np.asarray(values[column], np.float64) - center) / scale
            for column, sign, center, scale in zip(self.columns, self.signs, self.centers, self.scales, strict=True)
        ]
        return np.asarray(sum(parts) / len(parts))

    @property
    def sign(self) -> float:
        """Return -1 if the rule is stated on the scale of a column for which lower is better."""
        return self.signs[0] if len(self.columns) == 1 else 1.0


@dataclass(frozen=True)
class Policy:
    """The rule by which a judge decides alone. Scores are those of the signal: higher is better.

    Attributes
    ----------
    signal : Signal
    aspect : str
    pass_above, fail_below : float, optional
        The judge passes what scores above, and fails what scores below; None where it may not.
    error, confidence : float
        At most this share of the verdicts of either kind is wrong, with this probability.
    lowest, highest : float
        Scores of the labeled outputs: the range in which the rule was calibrated.
    data, systems, facts
        Where it was learned, and the numbers behind it.
    """

    signal: Signal
    aspect: str
    pass_above: float | None
    fail_below: float | None
    error: float
    confidence: float
    lowest: float
    highest: float
    data: str = ""
    systems: tuple[str, ...] = ()
    human_pass_from: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    def decide(self, value: Array) -> np.ndarray:
        """Return 'pass', 'fail' or 'human' for each score of the signal; outputs without a score go to humans."""
        decision = np.full(np.shape(value), "human", dtype="<U5")
        if self.pass_above is not None:
            decision[value > self.pass_above] = "pass"
        if self.fail_below is not None:
            decision[value < self.fail_below] = "fail"
        return decision

    def decisions(self, data: Dataset) -> pl.DataFrame:
        """Return system, input, score (of the signal) and decision of each output of the data."""
        if absent := [column for column in self.signal.columns if column not in data.metrics]:
            raise NeedsMissing(
                f"the policy needs the scores of {', '.join(absent)}; found {', '.join(data.metrics) or 'none'}.",
                data=data.name,
                code="no_scores",
            )
        scores = data.samples.select(KEY).join(data.scores, on=KEY, how="left", maintain_order="left")
        values = {c: scores[c].cast(pl.Float64).fill_null(math.nan).to_numpy() for c in self.signal.columns}
        score = self.signal.value(values)
        return scores.select(KEY).with_columns(
            pl.Series("score", score), pl.Series("decision", self.decide(score).tolist())
        )

    def write(self, path: str | Path) -> None:
        """Write the policy as JSON. A file that holds the rule of another aspect is an error, not replaced."""
        path = Path(path)
        if path.exists():
            other = read_policy(path).aspect
            if other != self.aspect:
                raise NeedsMissing(
                    f"{path} holds the policy of '{other}': a file holds one aspect; name the aspect or another file.",
                    code="unsuited_option",
                )
        whole = {"nlgauge_policy": VERSION, **asdict(self)}
        for name in ("pass_above", "fail_below"):  # JSON has no infinity
            if whole[name] is not None and math.isinf(whole[name]):
                whole[name] = "all"
        write_whole(path, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def read_policy(path: str | Path) -> Policy:
    """Read a policy that `nlgauge analyze delegate` wrote; every complaint names the file."""
    try:
        whole = json.loads(read_text(Path(path)))
    except (ValueError, RecursionError):
        raise DataError(f"{path}: not a policy: expected JSON written by `nlgauge analyze delegate`.") from None
    version = whole.pop("nlgauge_policy", None) if isinstance(whole, dict) else None
    if version != VERSION:
        raise DataError(f"{path}: not a policy of version {VERSION}; found {version!r}.")
    try:
        parts: dict[str, Any] = whole.pop("signal")
        columns, signs, centers, scales = (tuple(parts[key]) for key in ("columns", "signs", "centers", "scales"))
        signal = Signal(str(parts["name"]), columns, signs, centers, scales)
        for name, all_of_them in (("pass_above", -math.inf), ("fail_below", math.inf)):
            whole[name] = all_of_them if whole[name] == "all" else whole[name]
        return Policy(signal=signal, **{**whole, "systems": tuple(whole.get("systems", ()))})
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: not a policy: {error}.") from None
