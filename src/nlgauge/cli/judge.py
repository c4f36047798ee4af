"""Let a language model judge the outputs: ratings or comparisons, from any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.judges.cost import Price
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge import Judge
    from nlgauge.scoring.judging import Judged
    from nlgauge.table import Table

NEEDS_FILE = True
ASKED, SERVER, COST = "What to ask", "Whom to ask", "What it may cost"


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
    fill: Annotated[str, typer.Option("--fill", help="'random' fills replies without a rating, as paper 002 did.", rich_help_panel=ASKED)] = "",
    model: Annotated[str, typer.Option("--model", help="The model's name at the endpoint (or NLGAUGE_MODEL).", rich_help_panel=SERVER)] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="As in http://localhost:8000/v1 (or NLGAUGE_BASE_URL).", rich_help_panel=SERVER)] = "",
    key_file: Annotated[Path | None, typer.Option("--key-file", help="File with the key; else NLGAUGE_API_KEY or OPENAI_API_KEY.", rich_help_panel=SERVER)] = None,
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
    from nlgauge.cli.score import _write as write_scored
    from nlgauge.data.card import card
    from nlgauge.judges.client import Asking
    from nlgauge.judges.cost import Budget, load_prices
    from nlgauge.judges.secret import find_key
    from nlgauge.metrics import Batch
    from nlgauge.scoring.replies import Replies

    check_out(out)
    data = load(
        {"file": file, "system": system, "input": input, "output": output, "source": source, "context": context,
         "control": control, "human": human, "metric": metric, "rater": rater, "lower": lower, "higher": higher, "repeats": repeats, "encoding": encoding, "reader": reader}
    )  # fmt: skip
    o.tell(card(data, keep_people=True))
    judges = _judges(
        o.listed(aspect), name=judge, model=model, scale=scale, n=draws, temperature=temperature, mode=mode,
        base_url=base_url, structured=structured, fill=fill, rivals=rivals,
        references=references,
    )  # fmt: skip
    batch, replies = Batch.of(data), Replies()
    known = load_prices(prices) if prices else {}
    _check(data, judges, offline=dry_run or batch_out is not None)
    if batch_in is not None:
        _read_batch(batch_in, judges, batch, replies)
    if dry_run or batch_out is not None:
        _plan(judges, batch, replies, known, batch_out)
        return
    budget = Budget(max_cost, known) if max_cost is not None else None
    how = Asking(concurrency, attempts, timeout, rpm, tpm, key=find_key(key_file), budget=budget)
    tables = []
    for each in judges:
        result = _ask(each, batch, replies, how)
        data = _with(data, each, batch, result, keep_draws)
        tables.append(_row(each, result, known))
    o.show([_summary(tables)], format)
    if out is not None:
        o.tell(write_scored(data, out))
    else:
        o.tell(
            [
                "the scores are not written to a file; -o judged.jsonl does (the replies are in the store either way)"
            ]
        )


def _judges(aspects: Sequence[str] | None, name: str, **settings: Any) -> list[Judge]:
    from nlgauge.judges.task import load_task
    from nlgauge.metrics.judge import Judge

    return [Judge(name=name, aspect=a, **settings) for a in aspects or list(load_task(name).aspects)]


def _check(data: Dataset, judges: list[Judge], offline: bool) -> None:
    from nlgauge.scoring.plan import check_needs

    check_needs(data, judges)
    if not offline:
        judges[0].ready()


def _plan(
    judges: list[Judge], batch: Batch, replies: Any, prices: dict[str, Price], batch_out: Path | None
) -> None:
    from nlgauge.judges.batchfile import write_batch
    from nlgauge.judges.cost import plan

    requests = [r for judge in judges for r in judge.decided().requests(batch)]
    if batch_out is not None:
        count = write_batch(requests, replies, batch_out)
        o.say([f"written: {batch_out}, {count:,} requests; give its results to --batch-in"])
        return
    o.say(plan(requests, replies, prices).lines())


def _read_batch(path: Path, judges: list[Judge], batch: Batch, replies: Any) -> None:
    from nlgauge.judges.batchfile import read_batch

    read = read_batch(path, [r for judge in judges for r in judge.decided().requests(batch)], replies)
    lost = f", {read.failed:,} failed (the last: {read.reason})" if read.failed else ""
    odd = f", {read.foreign:,} lines belong to other requests" if read.foreign else ""
    o.tell([f"{path}: {read.kept:,} replies kept{lost}{odd}"])


def _ask(judge: Judge, batch: Batch, replies: Any, how: Any) -> Judged:
    from nlgauge.cli._data import progress
    from nlgauge.scoring.judging import judged

    with progress(f"{judge.decided().aspect}") as bar:
        return judged(judge, batch, replies, how, bar["progress"])


def _with(data: Dataset, judge: Judge, batch: Batch, result: Judged, keep_draws: bool) -> Dataset:
    from nlgauge.scoring.judging import add_comparisons, add_judged

    data = add_judged(data, judge, batch, result, keep_draws)
    return add_comparisons(data, judge, batch, result) if result.judge.mode == "pairwise" else data


def _row(judge: Judge, result: Judged, prices: dict[str, Price]) -> dict[str, Any]:
    import numpy as np

    from nlgauge.judges.replies import Reply

    values = result.scores.values
    good = values[~np.isnan(values)]
    replies = [r for r in result.found.values() if isinstance(r, Reply)]
    into, out = sum(r.prompt_tokens for r in replies), sum(r.completion_tokens for r in replies)
    price = prices.get(result.judge.model)
    return {
        "judge": str(judge), "mean": float(good.mean()) if len(good) else float("nan"), "scored": len(good),
        "unscored": len(values) - len(good), "replies": len(replies), "tokens in": into, "tokens out": out,
        "cost": price.of(into, out) if price else float("nan"), "unique": len(np.unique(good)),
        "reasons": result.reasons(), "notes": result.remarks(), "signature": judge.signature,
    }  # fmt: skip


def _summary(rows: list[dict[str, Any]]) -> Table:
    from nlgauge.table import Table

    notes = [f"{row['judge']}: {text}" for row in rows for text in [*row.pop("reasons"), *row.pop("notes")]]
    shown = ["judge", "mean", "scored", "unscored", "unique", "replies", "tokens in", "tokens out"]
    if any(row["cost"] == row["cost"] for row in rows):
        shown.append("cost")
    return Table(
        "Judged", rows, shown=shown, notes=notes, kind="judged",
        method="mean over scored outputs; unscored: no reply had a rating that could be read, or none came; tokens of all "
        "replies that the scores rest on, also those from earlier runs.",
    )  # fmt: skip
