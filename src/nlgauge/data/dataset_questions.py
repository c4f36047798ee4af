"""Questions as methods of a Dataset: `data.correlate()` is `nlgauge.correlate(data)`, which says what the options
mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from pathlib import Path

    import nlgauge
    from nlgauge.table import Table
    from nlgauge.types import Names, Progress


class AsksQuestions:
    """Methods with the names and options of the functions of `nlgauge`."""

    def analyse(self, name: str, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
        """Any analysis of `nlgauge list analyses`; see `nlgauge.analyse`."""
        import nlgauge

        return nlgauge.analyse(name, self, aspect, metrics, **options)

    def correlate(
        self, aspect: Names = None, metrics: Names = None, *, measures: Names = None, sort: str | None = None
    ) -> Table:  # fmt: skip
        """Which metric agrees with people? See `nlgauge.correlate`."""
        import nlgauge

        return nlgauge.correlate(self, aspect, metrics, measures=measures, sort=sort)

    def compare(
        self, aspect: Names = None, metrics: Names = None, *, measure: str = "input/kendall",
        test: Literal["auto", "permutation", "williams", "bootstrap"] = "auto",
        correction: Literal["holm", "bh", "none"] = "holm", draws: int | None = None, pairs: bool = False,
    ) -> Table:  # fmt: skip
        """Is one metric really better than another? See `nlgauge.compare`."""
        import nlgauge

        options: dict[str, Any] = {"test": test, "correction": correction, "draws": draws, "pairs": pairs}
        return nlgauge.compare(self, aspect, metrics, measure=measure, **options)

    def agreement(
        self, aspect: Names = None, *, level: Literal["nominal", "ordinal", "interval", "ratio"] = "interval",
        draws: int = 1000, bootstrap: Literal["units", "pairs"] = "units",
    ) -> Table:  # fmt: skip
        """Can people agree? See `nlgauge.agreement`."""
        import nlgauge

        return nlgauge.agreement(self, aspect, level=level, draws=draws, bootstrap=bootstrap)

    def stability(
        self, aspect: Names = None, metrics: Names = None, *, measures: Names = None,
        test: Literal["permutation", "williams"] = "permutation", draws: int = 1000, trials: int = 1000,
        profile: str = "nlgauge",
    ) -> Table:  # fmt: skip
        """Which measure can be trusted on these data? See `nlgauge.stability`."""
        import nlgauge

        options: dict[str, Any] = {"test": test, "draws": draws, "trials": trials, "profile": profile}
        return nlgauge.stability(self, aspect, metrics, measures=measures, **options)

    def verdicts(
        self, aspect: Names = None, metrics: Names = None, *, people_pass_from: float | None = None,
        judge_pass_from: float | None = None, level: float = 0.95,
    ) -> Table:  # fmt: skip
        """Does a judge say pass and fail as people do? See `nlgauge.verdicts`."""
        import nlgauge

        passing = {"people_pass_from": people_pass_from, "judge_pass_from": judge_pass_from}
        return nlgauge.verdicts(self, aspect, metrics, level=level, **passing)

    def estimate(
        self, aspect: Names = None, *, judge: Names = None, method: Literal["ppi++", "ppi", "labels"] = "ppi++",
        part: Literal["means", "differences", "ranks"] = "means", people_pass_from: float | None = None,
        probability: str | None = None, strata: str | None = None,
    ) -> Table:  # fmt: skip
        """How good would people find these outputs? See `nlgauge.estimate`."""
        import nlgauge

        design: dict[str, Any] = {"probability": probability, "strata": strata, "people_pass_from": people_pass_from}
        return nlgauge.estimate(self, aspect, judge=judge, method=method, part=part, **design)

    def next(
        self, budget: int, *, goal: Literal["estimate", "agreement", "ranking", "threshold"] = "estimate",
        how: Literal["random", "stratified", "disagreement", "optimal", "diverse"] | None = None,
        cut: float | None = None, out: str | Path | None = None,
        tool: Literal["csv", "label-studio", "argilla"] | None = None,
    ) -> Table:  # fmt: skip
        """Which outputs should people label next? See `nlgauge.next_to_label`."""
        import nlgauge

        return nlgauge.next_to_label(self, budget, goal=goal, how=how, cut=cut, out=out, tool=tool)

    def gate(self, minimum: Mapping[str, float] | str, aspect: Names = None, metrics: Names = None) -> Table:
        """Is the agreement of a judge with people above the limits? See `nlgauge.gate`."""
        import nlgauge

        return nlgauge.gate(self, minimum, aspect, metrics)

    def rank(
        self, aspect: Names = None, metrics: Names = None, *,
        ties: Literal["davidson", "rao-kupper", "half", "drop"] = "davidson",
        adjust: Literal["first", "style", "none"] = "first", interval: Literal["sandwich", "bootstrap"] = "sandwich",
    ) -> Table:  # fmt: skip
        """Which system is best by choices between two outputs? See `nlgauge.rank`."""
        import nlgauge

        return nlgauge.rank(self, aspect, metrics, ties=ties, adjust=adjust, interval=interval)

    def report(
        self, out: str | Path | None = None, *, measures: Names = None, gate: str = "input/kendall",
        quick: bool = False,
        prices: Mapping[str, nlgauge.Price] | str | Path | None = None, command: Sequence[str] = (),
    ) -> nlgauge.Report:  # fmt: skip
        """Answer every question, and write the page and the results; see `nlgauge.report`."""
        import nlgauge

        options: dict[str, Any] = {"measures": measures, "gate": gate, "quick": quick, "prices": prices}
        return nlgauge.report(self, out, command=command, **options)

    def score(
        self, metrics: Sequence[str | nlgauge.Metric] | str | nlgauge.Metric | None = None, *,
        progress: Progress | None = None, workers: int | None = None,
    ) -> nlgauge.Dataset:  # fmt: skip
        """These data with one more column of scores per metric; see `nlgauge.score`."""
        import nlgauge

        return nlgauge.score(self, metrics, progress=progress, workers=workers)

    def judge(
        self, judges: str | nlgauge.Judge | Sequence[nlgauge.Judge] = "summarisation", *, model: str = "",
        aspect: Names = None,
        base_url: str = "", how: nlgauge.Asking | None = None, keep_draws: bool = False,
        progress: Progress | None = None,
    ) -> nlgauge.JudgedData:  # fmt: skip
        """Let a language model judge the outputs; see `nlgauge.judge`."""
        import nlgauge

        options: dict[str, Any] = {"how": how, "keep_draws": keep_draws, "progress": progress}
        return nlgauge.judge(self, judges, model=model, aspect=aspect, base_url=base_url, **options)

    def export(self, path: str | Path) -> list[str]:
        """Write these data as .jsonl (loses nothing), .csv or .parquet; see `nlgauge.export`."""
        import nlgauge

        return nlgauge.export(cast("nlgauge.Dataset", self), path)
