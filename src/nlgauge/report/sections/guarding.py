"""Which biases has a judge, and has it drifted? Asked where a judge's scores stand beside ratings, or of two runs."""

from __future__ import annotations

from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.report.sections import Finding, Findings, Run, section


def judges_of(run: Run) -> list[str]:
    """Columns that a model made, by their signature, that are called a judge, or that name one of several aspects."""
    columns = judge_columns(run.source.metrics or run.data.metrics, run.aspects)
    return [
        c.metric for c in columns
        if "model:" in run.data.signatures.get(c.metric, "") or "judge" in c.metric.lower()
        or len(c.aspects) == 1 < len(run.aspects)
    ]  # fmt: skip


@section(
    "bias", order=47, question="Which biases has the judge that people do not have?",
    not_said="Why: an effect is seen on these systems and inputs, not proved by changing texts (`nlgauge robustness` "
             "changes them). Not found is not absent; the table says how large a bias would have been seen.",
    applies=lambda run: bool(judges_of(run)),
)  # fmt: skip
def bias(run: Run) -> Findings:
    return Findings([Finding("", " ".join(t.answers), [t]) for t in run.each("bias", metrics=judges_of(run))])


def two_runs(run: Run) -> bool:
    if len(run.source.datasets) != 2:
        return False
    from nlgauge.analyses.judges.drift import runs_of_one_judge

    return runs_of_one_judge(run.source)


@section(
    "drift", order=48, question="Has the judge drifted between the two runs, or the data?",
    not_said="Whether the anchors stand for all outputs: a judge may shift on others and not on them.",
    applies=two_runs,
)  # fmt: skip
def drift(run: Run) -> Findings:
    return Findings([Finding("", " ".join(t.answers), [t]) for t in run.each("drift")])
