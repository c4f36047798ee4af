"""What did the scores cost? Columns beside the scores, and the judges' replies that this machine keeps."""

from __future__ import annotations

from typing import Any

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.report.sections import Finding, Findings, Run, section
from nlgauge.report.sections.evaluated import known_metric
from nlgauge.report.sections.words import some
from nlgauge.table import Row, Table

COST = ("replies", "seconds", "tokens_in", "tokens_out", "cost")
PER_REPLY = ("prompt_tokens", "completion_tokens", "seconds")


@section(
    "costs", order=120, question="What did the scores cost?",
    not_said="What it would cost elsewhere: prices and machines differ.",
)  # fmt: skip
def costs(run: Run) -> Findings:
    """From columns such as `bleu seconds` or `my-judge tokens in`, and from the replies in the store of the judges."""
    rows: list[Row] = []
    lines: list[str] = []
    for metric in run.source.metrics or run.data.metrics:
        known = _columns(run, metric) or _replies(run, metric, lines)
        if known:
            rows.append({"metric": metric, **known})
    if not rows:
        raise NeedsMissing(
            "nothing is known about time, tokens or money: columns such as ‘NAME seconds’ or ‘NAME tokens in’ beside "
            "the scores would be shown here, and the replies of judges that this machine asked (`nlgauge judge`)."
            + (f" {' '.join(lines)}" if lines else "")
        )
    shown = [c for c in COST if any(c in row for row in rows)]
    parts = [f"{c.replace('_', ' ')} {sum(row.get(c, 0.0) for row in rows):,.6g}" for c in shown]
    table = Table(
        f"{run.data.name}: what the scores cost",
        rows,
        kind="costs",
        shown=["metric", *shown],
        method="Sums over all outputs; for judges over all replies that their scores rest on, also those of "
        "earlier runs.",
        decimals=4 if "cost" in shown else 1,
    )
    if not run.prices and any("replies" in row for row in rows):
        lines.append("The money is not known: give `--prices FILE` with the prices of a million tokens.")
    return Findings([Finding("", f"In all: {', '.join(parts)}.", [table])], lines)


def _columns(run: Run, metric: str) -> Row:
    known: Row = {}
    samples = run.data.samples
    for what in COST:
        column = next((c for c in samples.columns if c.lower() == f"{metric} {what.replace('_', ' ')}".lower()), None)
        if column is not None and samples[column].dtype.is_numeric():
            known[what] = float(samples[column].sum())
    return known


def _replies(run: Run, name: str, lines: list[str]) -> Row:
    """Tokens of the replies to this judge's requests for these outputs; nothing is asked."""
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.store import store_path

    signature = run.data.signatures.get(name)
    if signature is None or "|prompt:" not in signature or not store_path().exists():
        return {}
    from nlgauge.scoring.replies import Replies

    try:
        metric: Any = known_metric(Replies().spec_of(signature) or "")
        if not isinstance(metric, Judge):
            return {}
        judge = metric.decided()
        keys = {request.key for request in judge.requests(Batch.of(run.data))}
        found = list(Replies().known(keys).values())
    except NlgaugeError as error:
        lines.append(f"{name}: {error}")
        return {}
    if not found:
        return {}
    into, out, seconds = (sum(getattr(reply, what) for reply in found) for what in PER_REPLY)
    if len(found) < len(keys):
        lines.append(
            f"{name}: {len(keys) - len(found):,} of {len(keys):,} replies are not in the store of this machine."
        )
    price = (run.prices or {}).get(judge.model)
    if run.prices and price is None:
        lines.append(f"{name}: no price of ‘{judge.model}’ in the file; it knows {some(sorted(run.prices))}.")
    paid = {"cost": price.of(into, out)} if price else {}
    return {"replies": len(found), "seconds": seconds, "tokens_in": into, "tokens_out": out, **paid}
