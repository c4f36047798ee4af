"""Let a language model judge the outputs: ratings or comparisons, from any OpenAI-compatible endpoint.

Every reply is kept at once (NLGAUGE_STORE): a run can be stopped at any moment, goes on where it was, and never
asks twice for what it has.

[bold]Examples[/bold]

  nlgauge judge outputs.jsonl --aspect coherence --model gpt-4o-mini --dry-run

  nlgauge judge outputs.csv -j dialogue --scale 1-10 --draws 10 --model llama3 --base-url http://localhost:11434/v1
  -o judged.jsonl

  nlgauge judge outputs.csv -j my_judge.yaml --labels labels.csv --model m     (ends with how far it agrees with
  people's pass and fail)

  nlgauge judge outputs.csv -j my_judge.yaml --mode pairwise --rivals 4 --model m -o judged.jsonl

  nlgauge judge summeval -j gao2025 --setting GPT4o_T=1_1_10 --aspect coherence -o judged.jsonl
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, with_columns

if TYPE_CHECKING:
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judge_data import JudgedData, Mode
    from nlgauge.table import Table

ask, server, cost, read = (
    o.panel(name) for name in ("What to ask", "Whom to ask", "What it may cost", "How replies are read")
)


@with_columns
def command(
    columns: Columns,
    judge: Annotated[str, ask("--judge", "-j", "A shipped task (`nlgauge list judges`) or the path of your own "
                                               "YAML.")] = "summarisation",
    prompt: Annotated[Path | None, ask("--prompt", "Your own template for the task's; it holds {example}.")] = None,
    prompts: Annotated[Path | None, ask("--prompts", "Folder of templates (.txt, .md) or tasks (.yaml): try each on "
                                                     "the tuning part and say which is best.")] = None,
    test: Annotated[float, ask("--test", "With --prompts: share of the inputs kept out, where FILE is not parted by "
                                         "`data split`.")] = 0.45,
    aspect: Annotated[list[str] | None, ask("--aspect", "Aspects to judge (a,b or repeated); all of the task by "
                                                        "default.")] = None,
    setting: Annotated[list[str] | None, ask("--setting", "Scale, draws and temperature by name, where the task has "
        "settings (`nlgauge list judges gao2025`); a,b or repeated, or 'all'.")] = None,
    scale: Annotated[str, ask("--scale", "As in 1-5, 1-10, 0-100, A-E.")] = "",
    mode: Annotated[str, ask("--mode", "analysis, rating, logprobs or pairwise.")] = "",
    draws: Annotated[int, ask("--draws", "-n", "Replies per output; their ratings are averaged.")] = 0,
    temperature: Annotated[float, ask("--temperature", "By default 0, or 1 with several draws.")] = -1.0,
    rivals: Annotated[int, ask("--rivals", "pairwise: opponents of each output; all by default.")] = 0,
    structured: Annotated[bool, ask("--structured", "Ask for JSON by a schema, where the server can.")] = False,
    references: Annotated[bool, ask("--references", "Also show the judge the references.")] = False,
    name: Annotated[str, ask("--name", "What the judge is called in files, tables and pages; model and aspect by "
                                       "default.")] = "",
    fill: Annotated[str, ask("--fill", "'random' fills replies without a rating, as gao2025 did.")] = "",
    model: Annotated[str, server("--model", "The model's name at the endpoint (or NLGAUGE_MODEL).")] = "",
    base_url: Annotated[str, server("--base-url", "As in http://localhost:8000/v1 (or NLGAUGE_BASE_URL).")] = "",
    allow_endpoint: Annotated[str, server("--allow-endpoint", "Yes, ask the endpoint that the task's file names: "
        "this one.", metavar="URL")] = "",
    key_file: Annotated[Path | None, server("--key-file", "File with the key of the endpoint; else "
                                                          "NLGAUGE_API_KEY, or for OpenAI OPENAI_API_KEY.")] = None,
    concurrency: Annotated[int, server("--concurrency", "Requests under way at once.")] = 16,
    rpm: Annotated[float | None, server("--rpm", "Requests a minute, at most.")] = None,
    tpm: Annotated[float | None, server("--tpm", "Tokens a minute, at most.")] = None,
    timeout: Annotated[float, server("--timeout", "Seconds to wait for a reply.")] = 120.0,
    attempts: Annotated[int, server("--attempts", "Tries of one request.")] = 8,
    dry_run: Annotated[bool, cost("--dry-run", "Only count requests, tokens and cost.")] = False,
    prices: Annotated[Path | None, cost("--prices", 'Your JSON: {"model": {"input": 0.15, "output": 0.6}} per '
                                                    'million tokens.')] = None,
    max_cost: Annotated[float | None, cost("--max-cost", "Stop before more than this is spent.")] = None,
    batch_out: Annotated[Path | None, cost("--batch-out", "Write the open requests as an OpenAI batch file and "
                                                          "stop.")] = None,
    batch_in: Annotated[Path | None, cost("--batch-in", "Read the results of a batch first.")] = None,
    reparse: Annotated[bool, read("--reparse", "Only read the kept replies again; nothing is asked.")] = False,
    pattern: Annotated[str, read("--pattern", r"Where the rating stands in a reply, as in 'Score=(\d+)'; first "
                                              r"the pattern, then the usual reading.")] = "",
    reask: Annotated[bool, read("--reask", "Ask again for the replies that could not be read, and only for "
                                           "these.")] = False,
    keep_draws: Annotated[bool, o.output("--keep-draws", "Also keep each draw as a column, name#1, name#2 ….")] = False,
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "File for the data with the judge's scores: .jsonl, .csv "
                                                        "or .parquet.")] = None,
) -> None:  # fmt: skip
    from nlgauge.data.export import check_suffix
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.batch_files import read_batch, write_batch
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.cost import Budget, load_prices, plan
    from nlgauge.metrics.judge.secret import find_key
    from nlgauge.scoring.judge_data import judge_data, judges_of
    from nlgauge.scoring.plan import check_needs
    from nlgauge.scoring.replies import Replies

    check_suffix(out)
    if reparse and reask:
        raise NlgaugeError("--reparse asks nothing and --reask asks again: choose one.")
    data = columns.load_and_tell()
    settings = {
        "model": model, "scale": scale, "n": draws, "temperature": temperature, "mode": mode, "base_url": base_url,
        "structured": structured, "fill": fill, "rivals": rivals, "references": references, "pattern": pattern,
    }  # fmt: skip
    if prompts is not None:
        from nlgauge.api.tuning import tuning_part

        if setting:
            raise NlgaugeError("--prompts tries prompts, --setting names settings of a task: choose one.")
        data, words = tuning_part(data, columns.file, test)
        o.tell([words])
        judges = _one_each(prompts, judge, o.listed(aspect), settings)
    else:
        settings["prompt"] = str(prompt or "")
        judges = judges_of(judge, o.listed(aspect), name, o.listed(setting), **settings)
    offline = dry_run or batch_out is not None or reparse
    if not offline:
        judges = _allowed(judges, allow_endpoint)
    known, replies = load_prices(prices) if prices else {}, Replies()
    check_needs(data, judges)
    if not offline:
        judges[0].ready()
    if batch_in is not None or dry_run or batch_out is not None:
        batch = Batch.of(data)
        requests = [r for each in judges for r in each.decided().requests(batch)]
    if batch_in is not None:
        got = read_batch(batch_in, requests, replies)
        lost = f", {got.failed:,} failed (the last: {got.reason})" if got.failed else ""
        odd = f", {got.foreign:,} lines belong to other requests" if got.foreign else ""
        o.tell([f"{batch_in}: {got.kept:,} replies kept{lost}{odd}"])
    if batch_out is not None:
        count = write_batch(requests, replies, batch_out)
        told = [f"written: {batch_out}, {count:,} requests; give its results to --batch-in"]
        o.done("judge-batch", [{"file": batch_out, "requests": count}], format, told)
        return
    if dry_run:
        planned = plan(requests, replies, known)
        o.done("judge-plan", [asdict(planned)], format, planned.lines())
        return
    how = None
    if not offline:
        key = find_key(judges[0].decided().url, key_file)
        if key.withheld:
            o.tell([key.withheld])
        budget = Budget(max_cost, known) if max_cost is not None else None
        how = Asking(concurrency, attempts, timeout, rpm, tpm, key=key, budget=budget)
    again: Mode = "reparse" if reparse else "reask" if reask else "ask"
    done = judge_data(
        data, judges, how=how, replies=replies, mode=again, prices=known, keep_draws=keep_draws, progress=o.bar
    )  # fmt: skip
    _finish(done, len(judges), format, out, [str(each) for each in judges] if prompts is not None else [])


def _one_each(folder: Path, task: str, aspects: list[str] | None, settings: dict[str, Any]) -> list[Judge]:
    """A judge for each prompt of a folder, called by its file."""
    from nlgauge.errors import NlgaugeError
    from nlgauge.scoring.judge_data import judges_of

    files = sorted(p for p in folder.glob("*") if p.suffix in (".txt", ".md", ".yaml", ".yml"))
    tasks = [p for p in files if p.suffix in (".yaml", ".yml")]
    own = tasks or files  # templates beside tasks belong to them
    if len(own) < 2:
        raise NlgaugeError(f"--prompts {folder}: needs two templates (.txt, .md) or tasks (.yaml), found {len(own)}.")
    found = [
        judges_of(str(p), aspects, p.stem, **settings)
        if tasks
        else judges_of(task, aspects, p.stem, **settings, prompt=str(p))
        for p in own
    ]
    if any(len(one) > 1 for one in found):
        raise NlgaugeError("--prompts: one aspect at a time; name it with --aspect.")
    return [one[0] for one in found]


def _best(done: JudgedData, tried: list[str]) -> list[Table]:
    """Which of the prompts is best on the tuning part, with an interval that pays for the choice."""
    from nlgauge.errors import NlgaugeError
    from nlgauge.session import Selection

    if not tried:
        return []
    try:
        tables = Selection(done.data, metrics=tried).each("best-of")
    except NlgaugeError as error:
        o.tell([f"which is best cannot be told: {error}"])
        return []
    o.tell([f"to know how good it is, judge the test part with '{tables[0].facts['best']}' alone, once (--prompt)"])
    return tables


def _finish(done: JudgedData, judges: int, format: str, out: Path | None, tried: list[str]) -> None:
    """Write, show, and end as the run did: done, partly done (3), or nothing done (2, and no file).

    `tried`: judges of which one is chosen, so that their own intervals say too much.
    """
    from nlgauge.data.export import export
    from nlgauge.errors import NlgaugeError, PartlyDone
    from nlgauge.report.sections.verdicts import answers_about

    for lines in done.unread:
        o.tell(lines)
    if done.nothing:
        mended = _goes_on("When that is mended, the same command goes on")
        raise NlgaugeError(f"{done.nothing.rstrip('.')}. {mended}")
    for name in done.replaced:
        o.tell([f"the scores of '{name}' that the file had are replaced; --name keeps both"])
    unwritten = "the scores are not written to a file; -o judged.jsonl does (the replies are in the store either way)"
    written = [unwritten] if out is None else export(done.data, out)
    o.show([done.table, *_best(done, tried)], format)
    answers = [] if tried else answers_about(done.data, [row["judge"] for row in done.table])
    (o.say if format == "table" else o.tell)(answers)
    o.tell(written)
    if done.stopped or done.failures:
        several = f" on {judges} aspects" if judges > 1 else ""
        said = (done.stopped or f"{done.failures:,} requests got no reply").rstrip(".")
        raise PartlyDone(
            f"partly done: {said}. {done.scored:,} of {done.of:,} outputs{several} are scored"
            f"{f' and written to {out}' if out else ''}. {_goes_on('The same command goes on with the rest')}"
        )


def _goes_on(words: str) -> str:
    """How to get the rest; what is only read again must be asked for first."""
    if "--reparse" in sys.argv:
        return "Without --reparse the missing replies are asked for."
    return f"{words}: {o.again()}"


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
