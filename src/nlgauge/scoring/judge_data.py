"""Run judges on a Dataset: request, parse, add their columns, and report replies that could not be parsed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nlgauge.data.card import headline
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.client import Asking
from nlgauge.metrics.judge.cost import Price
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.replies import Reply
from nlgauge.metrics.judge.secret import find_key
from nlgauge.metrics.judge.task import RUBRIC_MODES, load_task
from nlgauge.options import option
from nlgauge.scoring.judging import Judged, add_comparisons, add_judged, judged, reread
from nlgauge.scoring.plan import check_needs
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.rubric_parts import add_totals
from nlgauge.table import Row, Table

SHOWN = 3  # replies of each kind that could not be read
Mode = Literal["ask", "reask", "reparse"]


@dataclass(frozen=True)
class JudgedData:
    """A Dataset with the columns of its judges, the table of requests, and why the run ended early, if it did."""

    data: Dataset
    table: Table
    scored: int  # outputs with a score, over all judges
    of: int
    failures: int = 0  # requests without a reply
    stopped: str = ""
    unread: list[list[str]] = field(default_factory=list)  # per judge: replies that could not be parsed
    replaced: list[str] = field(default_factory=list)  # scores that the data had before
    tables: list[Table] = field(default_factory=list)  # shown by the command
    lines: list[str] | None = None
    remarks: list[str] = field(default_factory=list)
    unfinished: str = ""  # why some outputs have no score, and how to continue

    @property
    def nothing(self) -> str:
        """Why no output is scored; empty if at least one is."""
        if self.scored:
            return ""
        return self.stopped or "; ".join(["no output is scored", *self.table.notes[:3]]) + "."


def judges_of(
    task: str, aspects: Sequence[str] | None = None, name: str = "", settings: Sequence[str] | None = None, **how: Any
) -> list[Judge]:
    """Return one judge for each requested aspect of a task (default: all aspects) and each requested setting.

    `how` holds fields of `Judge`. The setting 'all' stands for every setting of the task; if `how` names a model, each
    setting is used once, with this model.
    """
    task_definition = load_task(task)
    requested = aspects or list(task_definition.aspects)
    chosen = list(settings or [""])
    if "all" in chosen:
        chosen = (list(task_definition.settings) if how.get("model") else task_definition.named_settings()) or chosen
    if name and len(chosen) > 1:
        raise NlgaugeError(f"{option('name', name)}: expected one setting; several settings are named automatically.")
    names = {a: f"{name}-{a}" if name and len(requested) > 1 else name for a in requested}
    return [Judge(task=task, aspect=a, name=names[a], setting=s, **how) for s in chosen for a in requested]


def judge_data(
    data: Dataset,
    judges: Sequence[Judge],
    *,
    how: Asking | None = None,
    replies: Replies | None = None,
    mode: Mode = "ask",
    prices: Mapping[str, Price] | None = None,
    keep_draws: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> JudgedData:
    """Request missing judgments of every judge, and add its scores (and comparisons) to the data.

    With mode 'reask' the replies that could not be read are asked for again; with 'reparse' nothing is asked.
    """
    check_needs(data, judges)
    replies = replies or Replies()
    batch, done, stopped = Batch.of(data), [], ""
    if mode != "reparse":
        judges[0].ready()
        how = how or Asking(key=find_key(judges[0].decided().url))
    for each in judges:
        try:
            done.append((each, _result(each, batch, replies, how, mode, progress)))
            stopped = done[-1][1].stopped
        except NlgaugeError as error:
            stopped = str(error)
        if stopped:
            break
    table = _summary([_row(judge, result, prices or {}) for judge, result in done])
    replaced = [str(judge) for judge, _ in done if str(judge) in data.metrics]
    for judge, result in done:
        data = add_judged(data, judge, batch, result, keep_draws)
        if result.judge.mode == "pairwise":
            data = add_comparisons(data, judge, batch, result)
        if result.judge.mode in RUBRIC_MODES:
            data = add_totals(data, str(judge), judge.signature)
    scored = sum(int((~np.isnan(result.scores.values)).sum()) for _, result in done)
    return JudgedData(
        data,
        table,
        scored,
        len(batch) * len(judges),
        sum(result.failures for _, result in done),
        stopped,
        [lines for judge, result in done if (lines := _unread(judge, result, batch))],
        replaced,
    )


def _result(
    judge: Judge,
    batch: Batch,
    replies: Replies,
    how: Asking | None,
    mode: Mode,
    progress: Callable[[str, int, int], None] | None,
) -> Judged:
    if mode == "reparse":
        return reread(judge, batch, replies)
    aspect = judge.decided().aspect
    tick = None if progress is None else lambda done, total: progress(aspect, done, total)
    return judged(judge, batch, replies, how, tick, reask=mode == "reask")


def _unread(judge: Judge, result: Judged, batch: Batch) -> list[str]:
    """Return the number of replies that could not be parsed, with examples and advice."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for why, text in result.unread(batch).values():
        by_reason[why].append(text)
    if not by_reason:
        return []
    replies = sum(1 for reply in result.found.values() if hasattr(reply, "text"))
    lines = [f"{judge}: {sum(map(len, by_reason.values())):,} of {replies:,} replies could not be parsed"]
    for why, texts in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(texts):,} × {why}:")
        lines += [
            f"  {text if len(text) <= 100 else text[:60] + ' … ' + text[-40:]!r}"
            for text in list(dict.fromkeys(texts))[:SHOWN]
        ]
    form = f", with {option('pattern', 'Score=([0-9]+)')} where they have another form"
    again = (
        f"to parse them again without new requests: {option('reparse', True)}"
        f"{'' if result.judge.mode in RUBRIC_MODES else form}; to repeat these requests: {option('reask', True)}; all "
        "replies are in `nlgauge cache export`"
    )
    return [*lines, again]


def _row(judge: Judge, result: Judged, prices: Mapping[str, Price]) -> Row:
    values = result.scores.values
    good = values[~np.isnan(values)]
    replies = [r for r in result.found.values() if isinstance(r, Reply)]
    into, out = sum(r.prompt_tokens for r in replies), sum(r.completion_tokens for r in replies)
    price = prices.get(result.judge.model)
    return {
        "judge": str(judge),
        "mean": float(good.mean()) if len(good) else float("nan"),
        "scored": len(good),
        "unscored": len(values) - len(good),
        "replies": len(replies),
        "tokens_in": into,
        "tokens_out": out,
        "cost": price.of(into, out) if price else float("nan"),
        "unique": len(np.unique(good)),
        "headlines": headline(str(judge), Counter(result.scores.reasons.values()), len(values)),
        "reasons": result.reasons(),
        "notes": result.remarks(),
        "signature": judge.signature,
    }


def _summary(rows: list[Row]) -> Table:
    notes = [f"{row['judge']}: {text}" for row in rows for text in [*row.pop("reasons"), *row.pop("notes")]]
    first = [text for row in rows for text in row.pop("headlines")]
    shown = ["judge", "mean", "scored", "unscored", "unique", "replies", "tokens_in", "tokens_out"]
    if any(row["cost"] == row["cost"] for row in rows):
        shown.append("cost")
    return Table(
        "Judged",
        rows,
        shown=shown,
        notes=notes,
        headlines=first,
        kind="judged",
        method="mean over scored outputs; unscored: no reply, or none with a rating that could be parsed; tokens of "
        "all replies used, including those of earlier runs.",
    )
