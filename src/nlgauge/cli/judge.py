"""Let a language model judge the outputs: ratings or comparisons, from any OpenAI-compatible endpoint."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.cost import Price
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judging import Judged
    from nlgauge.table import Table

NEEDS_FILE = True
ASKED, SERVER, COST, READ = "What to ask", "Whom to ask", "What it may cost", "How replies are read"
SHOWN = 3  # replies of each kind that could not be read


def command(
    file: o.File,
    judge: Annotated[str, typer.Option("--judge", "-j", help="A shipped task (`nlgauge list judges`) or the path of your own YAML.", rich_help_panel=ASKED)] = "summarisation",
    aspect: Annotated[list[str] | None, typer.Option("--aspect", help="Aspects to judge (a,b or repeated); all of the task by default.", rich_help_panel=ASKED)] = None,
    scale: Annotated[str, typer.Option("--scale", help="As in 1-5, 1-10, 0-100, A-E.", rich_help_panel=ASKED)] = "",
    mode: Annotated[str, typer.Option("--mode", help="analysis, rating, logprobs or pairwise.", rich_help_panel=ASKED)] = "",
    draws: Annotated[int, typer.Option("--draws", "-n", help="Replies per output; their ratings are averaged.", rich_help_panel=ASKED)] = 0,
    temperature: Annotated[float, typer.Option("--temperature", help="By default 0, or 1 with several draws.", rich_help_panel=ASKED)] = -1.0,
    rivals: Annotated[int, typer.Option("--rivals", help="pairwise: opponents of each output; all by default.", rich_help_panel=ASKED)] = 0,
    structured: Annotated[bool, typer.Option("--structured", help="Ask for JSON by a schema, where the server can.", rich_help_panel=ASKED)] = False,
    references: Annotated[bool, typer.Option("--references", help="Also show the judge the references.", rich_help_panel=ASKED)] = False,
    name: Annotated[str, typer.Option("--name", help="What the judge is called in files, tables and pages; model and aspect by default.", rich_help_panel=ASKED)] = "",
    fill: Annotated[str, typer.Option("--fill", help="'random' fills replies without a rating, as gao2025 did.", rich_help_panel=ASKED)] = "",
    model: Annotated[str, typer.Option("--model", help="The model's name at the endpoint (or NLGAUGE_MODEL).", rich_help_panel=SERVER)] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="As in http://localhost:8000/v1 (or NLGAUGE_BASE_URL).", rich_help_panel=SERVER)] = "",
    allow_endpoint: Annotated[str, typer.Option("--allow-endpoint", metavar="URL", help="Yes, ask the endpoint that the task's file names: this one.", rich_help_panel=SERVER)] = "",
    key_file: Annotated[Path | None, typer.Option("--key-file", help="File with the key of the endpoint; else NLGAUGE_API_KEY, or for OpenAI OPENAI_API_KEY.", rich_help_panel=SERVER)] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Requests under way at once.", rich_help_panel=SERVER)] = 16,
    rpm: Annotated[float | None, typer.Option("--rpm", help="Requests a minute, at most.", rich_help_panel=SERVER)] = None,
    tpm: Annotated[float | None, typer.Option("--tpm", help="Tokens a minute, at most.", rich_help_panel=SERVER)] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds to wait for a reply.", rich_help_panel=SERVER)] = 120.0,
    attempts: Annotated[int, typer.Option("--attempts", help="Tries of one request.", rich_help_panel=SERVER)] = 8,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count requests, tokens and cost.", rich_help_panel=COST)] = False,
    prices: Annotated[Path | None, typer.Option("--prices", help='Your JSON: {"model": {"input": 0.15, "output": 0.6}} per million tokens.', rich_help_panel=COST)] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", help="Stop before more than this is spent.", rich_help_panel=COST)] = None,
    batch_out: Annotated[Path | None, typer.Option("--batch-out", help="Write the open requests as an OpenAI batch file and stop.", rich_help_panel=COST)] = None,
    batch_in: Annotated[Path | None, typer.Option("--batch-in", help="Read the results of a batch first.", rich_help_panel=COST)] = None,
    reparse: Annotated[bool, typer.Option("--reparse", help="Only read the kept replies again; nothing is asked.", rich_help_panel=READ)] = False,
    pattern: Annotated[str, typer.Option("--pattern", help=r"Where the rating stands in a reply, as in 'Score=(\d+)'; first the pattern, then the usual reading.", rich_help_panel=READ)] = "",
    reask: Annotated[bool, typer.Option("--reask", help="Ask again for the replies that could not be read, and only for these.", rich_help_panel=READ)] = False,
    keep_draws: Annotated[bool, typer.Option("--keep-draws", help="Also keep each draw as a column, name#1, name#2 ….", rich_help_panel=o.OUT)] = False,
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    source: o.Source = None,
    context: o.Context = None,
    control: o.Control = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    repeats: o.Repeats = "auto",
    values: o.Values = None,
    sheet: o.Sheet = None,
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    format: o.Format = "table",
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the data with the judge's scores: .jsonl, .csv or .parquet.", rich_help_panel=o.OUT)] = None,
) -> None:  # fmt: skip
    """Let a language model judge the outputs: ratings or comparisons, from any OpenAI-compatible endpoint.

    Every reply is kept at once (NLGAUGE_STORE): a run can be stopped at any moment, goes on where it was, and never
    asks twice for what it has.

    [bold]Examples[/bold]

      nlgauge judge outputs.jsonl --aspect coherence --model gpt-4o-mini --dry-run

      nlgauge judge outputs.csv -j dialogue --scale 1-10 --draws 10 --model llama3 --base-url http://localhost:11434/v1 -o judged.jsonl

      nlgauge judge outputs.csv -j my_judge.yaml --mode pairwise --rivals 4 --model m -o judged.jsonl
    """
    from nlgauge.cli._data import load
    from nlgauge.cli.score import _check as check_out
    from nlgauge.data.card import card
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.cost import Budget, load_prices
    from nlgauge.metrics.judge.secret import find_key
    from nlgauge.scoring.replies import Replies

    check_out(out)
    if reparse and reask:
        raise NlgaugeError("--reparse asks nothing and --reask asks again: choose one.")
    data = load(
        {"file": file, "system": system, "input": input, "output": output, "source": source, "context": context,
         "control": control, "human": human, "metric": metric, "rater": rater, "lower": lower, "higher": higher, "repeats": repeats, "values": values, "sheet": sheet, "encoding": encoding, "reader": reader}
    )  # fmt: skip
    o.tell(card(data, keep_people=True))
    judges = _judges(
        o.listed(aspect), name, task=judge, model=model, scale=scale, n=draws, temperature=temperature, mode=mode,
        base_url=base_url, structured=structured, fill=fill, rivals=rivals,
        references=references, pattern=pattern,
    )  # fmt: skip
    offline = dry_run or batch_out is not None or reparse
    if not offline:
        judges = _allowed(judges, allow_endpoint)
    batch, replies = Batch.of(data), Replies()
    known = load_prices(prices) if prices else {}
    _check(data, judges, offline)
    if batch_in is not None:
        _read_batch(batch_in, judges, batch, replies)
    if dry_run or batch_out is not None:
        _plan(judges, batch, replies, known, batch_out)
        return
    budget = Budget(max_cost, known) if max_cost is not None else None
    if offline:
        how = None
    else:
        key = find_key(judges[0].decided().url, key_file)
        if key.withheld:
            o.tell([key.withheld])
        how = Asking(concurrency, attempts, timeout, rpm, tpm, key=key, budget=budget)
    done: list[tuple[Judge, Judged]] = []
    why = ""
    for each in judges:
        try:
            done.append((each, _ask(each, batch, replies, how, reask)))
            why = done[-1][1].stopped
        except NlgaugeError as error:
            why = str(error)
        if why:
            break
    _finish(data, judges, batch, done, why, known, keep_draws, format, out)


def _finish(
    data: Dataset, judges: list[Judge], batch: Batch, done: list[tuple[Judge, Judged]], why: str,
    prices: dict[str, Price], keep_draws: bool, format: str, out: Path | None,
) -> None:  # fmt: skip
    """Write, show, and end as the run did: done, partly done (3), or nothing done (2, and no file)."""
    import numpy as np

    from nlgauge.cli.score import _write as write_scored
    from nlgauge.errors import NlgaugeError, PartlyDone

    scored = sum(int((~np.isnan(result.scores.values)).sum()) for _, result in done)
    for judge, result in done:
        o.tell(_unread(judge, result, batch))
    if not scored:
        reasons = [f"{judge}: {said}" for judge, result in done for said in result.reasons()]
        said = why or "; ".join(["no output is scored", *reasons[:3]]) + "."
        raise NlgaugeError(f"{said.rstrip('.')}. {_goes_on('When that is mended, the same command goes on')}")
    for judge, result in done:
        if str(judge) in data.metrics:
            o.tell([f"the scores of '{judge}' that the file had are replaced; --name keeps both"])
        data = _with(data, judge, batch, result, keep_draws)
    written = [] if out is None else write_scored(data, out)
    o.show([_summary([_row(judge, result, prices) for judge, result in done])], format)
    o.tell(
        written
        or [
            "the scores are not written to a file; -o judged.jsonl does (the replies are in the store either way)"
        ]
    )
    lost = sum(result.failures for _, result in done)
    if why or lost:
        several = f" on {len(judges)} aspects" if len(judges) > 1 else ""
        said = (why or f"{lost:,} requests got no reply").rstrip(".")
        raise PartlyDone(
            f"partly done: {said}. {scored:,} of {len(batch) * len(judges):,} outputs{several} are scored"
            f"{f' and written to {out}' if out else ''}. {_goes_on('The same command goes on with the rest')}"
        )


def _goes_on(words: str) -> str:
    """How to get the rest; what is only read again must be asked for first."""
    if "--reparse" in sys.argv:
        return "Without --reparse the missing replies are asked for."
    return f"{words}: {o.again()}"


def _unread(judge: Judge, result: Judged, batch: Batch) -> list[str]:
    """How many replies could not be read, some of them, and what to do."""
    from collections import defaultdict

    found: dict[str, list[str]] = defaultdict(list)
    for why, text in result.unread(batch).values():
        found[why].append(text)
    if not found:
        return []
    replies = sum(1 for reply in result.found.values() if hasattr(reply, "text"))
    lines = [f"{judge}: {sum(map(len, found.values())):,} of {replies:,} replies could not be read"]
    for why, texts in sorted(found.items(), key=lambda item: -len(item[1])):
        lines.append(f"{len(texts):,} × {why}:")
        lines += [
            f"  {text if len(text) <= 100 else text[:60] + ' … ' + text[-40:]!r}"
            for text in list(dict.fromkeys(texts))[:SHOWN]
        ]
    return [*lines, r"to read them again without asking: --reparse, with --pattern 'Score=(\d+)' where they have a form of "
            "their own; to ask again for these only: --reask; all are in `nlgauge store export`"]  # fmt: skip


def _judges(aspects: Sequence[str] | None, name: str, task: str, **settings: Any) -> list[Judge]:
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.metrics.judge.task import load_task

    asked = aspects or list(load_task(task).aspects)
    names = {a: f"{name}-{a}" if name and len(asked) > 1 else name for a in asked}
    return [Judge(task=task, aspect=a, name=names[a], **settings) for a in asked]


def _allowed(judges: list[Judge], allowed: str) -> list[Judge]:
    """With the endpoint that a task's file names, once the user has agreed to it: on the command line or when asked."""
    from nlgauge.errors import NlgaugeError

    told, task = judges[0].file_endpoint(), judges[0].task
    if allowed and allowed.rstrip("/") != told:
        what = f"names {told}" if told else "names no endpoint, or you named one"
        raise NlgaugeError(f"--allow-endpoint {allowed}: {task} {what}; --base-url says where to ask.")
    if told and not allowed and sys.stdin.isatty() and sys.stderr.isatty():
        question = f"{task} names the endpoint {told}. Send the outputs there, and the key if there is one?"
        allowed = told if typer.confirm(question, err=True) else ""
    return [replace(judge, base_url=told) for judge in judges] if told and allowed else judges


def _check(data: Dataset, judges: list[Judge], offline: bool) -> None:
    from nlgauge.scoring.plan import check_needs

    check_needs(data, judges)
    if not offline:
        judges[0].ready()


def _plan(
    judges: list[Judge], batch: Batch, replies: Any, prices: dict[str, Price], batch_out: Path | None
) -> None:
    from nlgauge.metrics.judge.batch_files import write_batch
    from nlgauge.metrics.judge.cost import plan

    requests = [r for judge in judges for r in judge.decided().requests(batch)]
    if batch_out is not None:
        count = write_batch(requests, replies, batch_out)
        o.say([f"written: {batch_out}, {count:,} requests; give its results to --batch-in"])
        return
    o.say(plan(requests, replies, prices).lines())


def _read_batch(path: Path, judges: list[Judge], batch: Batch, replies: Any) -> None:
    from nlgauge.metrics.judge.batch_files import read_batch

    read = read_batch(path, [r for judge in judges for r in judge.decided().requests(batch)], replies)
    lost = f", {read.failed:,} failed (the last: {read.reason})" if read.failed else ""
    odd = f", {read.foreign:,} lines belong to other requests" if read.foreign else ""
    o.tell([f"{path}: {read.kept:,} replies kept{lost}{odd}"])


def _ask(judge: Judge, batch: Batch, replies: Any, how: Any, reask: bool) -> Judged:
    from nlgauge.cli._data import progress
    from nlgauge.scoring.judging import judged, reread

    if how is None:
        return reread(judge, batch, replies)
    with progress(f"{judge.decided().aspect}") as bar:
        return judged(judge, batch, replies, how, bar["progress"], reask=reask)


def _with(data: Dataset, judge: Judge, batch: Batch, result: Judged, keep_draws: bool) -> Dataset:
    from nlgauge.scoring.judging import add_comparisons, add_judged

    data = add_judged(data, judge, batch, result, keep_draws)
    return add_comparisons(data, judge, batch, result) if result.judge.mode == "pairwise" else data


def _row(judge: Judge, result: Judged, prices: dict[str, Price]) -> dict[str, Any]:
    from collections import Counter

    import numpy as np

    from nlgauge.data.failed_scores import headline
    from nlgauge.metrics.judge.replies import Reply

    values = result.scores.values
    good = values[~np.isnan(values)]
    replies = [r for r in result.found.values() if isinstance(r, Reply)]
    into, out = sum(r.prompt_tokens for r in replies), sum(r.completion_tokens for r in replies)
    price = prices.get(result.judge.model)
    return {
        "judge": str(judge), "mean": float(good.mean()) if len(good) else float("nan"), "scored": len(good),
        "unscored": len(values) - len(good), "replies": len(replies), "tokens in": into, "tokens out": out,
        "cost": price.of(into, out) if price else float("nan"), "unique": len(np.unique(good)),
        "headlines": headline(str(judge), Counter(result.scores.reasons.values()), len(values)),
        "reasons": result.reasons(), "notes": result.remarks(), "signature": judge.signature,
    }  # fmt: skip


def _summary(rows: list[dict[str, Any]]) -> Table:
    from nlgauge.table import Table

    notes = [f"{row['judge']}: {text}" for row in rows for text in [*row.pop("reasons"), *row.pop("notes")]]
    first = [text for row in rows for text in row.pop("headlines")]
    shown = ["judge", "mean", "scored", "unscored", "unique", "replies", "tokens in", "tokens out"]
    if any(row["cost"] == row["cost"] for row in rows):
        shown.append("cost")
    return Table(
        "Judged", rows, shown=shown, notes=notes, headlines=first, kind="judged",
        method="mean over scored outputs; unscored: no reply had a rating that could be read, or none came; tokens of all "
        "replies that the scores rest on, also those from earlier runs.",
    )  # fmt: skip
