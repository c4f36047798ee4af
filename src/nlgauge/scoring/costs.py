"""Costs of a metric or judge, from cost columns of the data or from stored replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.cost import Price
from nlgauge.metrics.judge.judge import Judge
from nlgauge.number import some
from nlgauge.scoring.plan import known_metric
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import store_path
from nlgauge.table import Row

COST = ("replies", "seconds", "tokens_in", "tokens_out", "cost")
PER_REPLY = ("prompt_tokens", "completion_tokens", "seconds")


def known_costs(data: Dataset, metric: str, prices: Mapping[str, Price] | None, lines: list[str]) -> Row:
    """Return sums over all outputs, from columns such as `bleu seconds` or `my-judge cost`, else from the store.

    Empty if nothing is known; what could not be read is added to `lines`.
    """
    row: Row = {}
    for what in COST:
        name = f"{metric} {what.replace('_', ' ')}".lower()
        column = next((c for c in data.samples.columns if c.lower() == name), None)
        if column is not None and data.samples[column].dtype.is_numeric():
            row[what] = float(data.samples[column].sum())
    return row or _replies(data, metric, prices or {}, lines)


def _replies(data: Dataset, name: str, prices: Mapping[str, Price], lines: list[str]) -> Row:
    """Return the tokens of the stored replies to this judge's requests for these outputs, without sending a request."""
    signature = data.signatures.get(name)
    if signature is None or "|prompt:" not in signature or not store_path().exists():
        return {}
    try:
        metric: Any = known_metric(Replies().spec_of(signature) or "")
        if not isinstance(metric, Judge):
            return {}
        judge = metric.decided()
        keys = {request.key for request in judge.requests(Batch.of(data))}
        replies = list(Replies().known(keys).values())
    except NlgaugeError as error:
        lines.append(f"{name}: {error}")
        return {}
    if not replies:
        return {}
    into, out, seconds = (sum(getattr(reply, what) for reply in replies) for what in PER_REPLY)
    if len(replies) < len(keys):
        lines.append(
            f"{name}: {len(keys) - len(replies):,} of {len(keys):,} replies are not in the store of this machine."
        )
    price = prices.get(judge.model)
    if prices and price is None:
        lines.append(f"{name}: no price of ‘{judge.model}’ in the file, which has {some(sorted(prices))}.")
    paid = {"cost": price.of(into, out)} if price else {}
    return {"replies": len(replies), "seconds": seconds, "tokens_in": into, "tokens_out": out, **paid}
