"""Language models as judges: the Python interface and the command `judge`."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from nlgauge.analyses.errors.robustness import attack_versions, probe_table
from nlgauge.analyses.verdicts.sentences import lines_of, two_valued_aspects
from nlgauge.api.files import tuning_part
from nlgauge.api.policies import with_decisions
from nlgauge.api.questions import FileOptions, dataset
from nlgauge.data.card import reading
from nlgauge.data.choice import listed
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.export import check_suffix, export
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.batch_files import read_batch, write_batch
from nlgauge.metrics.judge.client import Asking
from nlgauge.metrics.judge.cost import Budget, Price, load_prices
from nlgauge.metrics.judge.cost import plan as plan_cost
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.secret import find_key
from nlgauge.metrics.judge.task import RUBRIC_MODES
from nlgauge.options import option
from nlgauge.scoring.judge_data import JudgedData, Mode, judge_data, judges_of
from nlgauge.scoring.plan import check_needs
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.rubric_parts import with_rubric
from nlgauge.session import Session
from nlgauge.table import CommandOutput, Table, command_output
from nlgauge.types import Names, Progress


@with_shared_parameters
def judge(
    data: Any,
    aspect: Names = None,
    *,
    judge: str | Judge | Sequence[Judge] = "summarization",
    prompt: str | Path | None = None,
    prompts: Path | None = None,
    rubric: str | Path | None = None,
    test: float = 0.45,
    setting: Names = None,
    scale: str = "",
    mode: str = "",
    draws: int = 0,
    temperature: float = -1.0,
    rivals: int = 0,
    structured: bool = False,
    references: bool = False,
    name: str = "",
    fill: str = "",
    model: str = "",
    base_url: str = "",
    allow_endpoint: str = "",
    key_file: Path | None = None,
    concurrency: int = 16,
    rpm: float | None = None,
    tpm: float | None = None,
    timeout: float = 120.0,
    attempts: int = 8,
    dry_run: bool = False,
    prices: Path | Mapping[str, Price] | None = None,
    max_cost: float | None = None,
    batch_out: Path | None = None,
    batch_in: Path | None = None,
    reparse: bool = False,
    pattern: str = "",
    reask: bool = False,
    keep_draws: bool = False,
    probe: int = 0,
    policy: str | Path | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], object] | None = None,
    confirm: Callable[[str], bool] | None = None,
    command: Sequence[str] = (),
    **file: Unpack[FileOptions],
) -> JudgedData | CommandOutput:
    """Score outputs with an LLM judge: ratings or pairwise comparisons from any OpenAI-compatible endpoint.

    Each reply is cached as soon as it arrives (NLGAUGE_STORE). A run can be interrupted at any time; it resumes where
    it stopped, and cached replies are never requested again.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        Outputs to judge: a table, an export of another tool, a published data set, or 'example'.
    judge : str, Judge or sequence of Judge, default 'summarization'
        A built-in task (`nlgauge list judges`) or the path of your own YAML file. In Python, also configured judge
        objects.
    prompt : path, optional
        Your own prompt template instead of that of the task; it must contain {example}.
    prompts : path, optional
        Folder of prompt templates (.txt, .md) or tasks (.yaml). Each one is evaluated on the tuning part of the data,
        and the best is reported.
    rubric : str or path, optional
        Request a verdict on each item of a rubric: 'answer', 'grounded-summary', the path of your own (TOML, JSON as
        in HealthBench, or one criterion per line), or 'data' where the rows of the data are items with a `criterion`.
        Items become parts of the outputs, and the total is the column `NAME-total`.
    test : float, default 0.45
        With `prompts`: share of the inputs in the held-out test set, if the data were not split by
        `nlgauge data split`.
    setting : str or sequence of str, optional
        Named setting of scale, draws and temperature, if the task defines settings (see `nlgauge list judges
        gao2025`), or 'all'.
    scale : str, optional
        Rating scale, such as 1-5, 1-10, 0-100 or A-E. Default: the scale of the task.
    mode : str, optional
        Kind of reply to request: analysis (a rating after an explanation), rating, logprobs or pairwise; with a rubric
        all items in one reply (rubric) or one reply per item (item).
    draws : int, optional
        Number of replies per output, whose ratings are averaged.
    temperature : float, optional
        Sampling temperature. Default: 0, or 1 with several draws.
    rivals : int, optional
        Pairwise mode: number of opponents of each output. Default: all.
    structured : bool, default False
        Request structured output (JSON that conforms to a schema), if the server supports it.
    references : bool, default False
        Also show the judge the references.
    name : str, optional
        Name of the judge in files, tables and reports. Default: model and aspect.
    fill : str, optional
        'random' replaces unreadable ratings with random ones, as Gao et al. (2025) did. Default: unreadable ratings
        are treated as missing.
    model : str, optional
        Name of the model at the endpoint. Default: NLGAUGE_MODEL.
    base_url : str, optional
        URL of the endpoint, such as http://localhost:8000/v1. Default: NLGAUGE_BASE_URL.
    allow_endpoint : str, optional
        Endpoint named in the task file, repeated here to permit requests to it.
    key_file : path, optional
        File with the API key of the endpoint. Default: NLGAUGE_API_KEY, or OPENAI_API_KEY for OpenAI.
    concurrency : int, default 16
        Number of concurrent requests.
    rpm : float, optional
        Maximum number of requests per minute.
    tpm : float, optional
        Maximum number of tokens per minute.
    timeout : float, default 120
        Seconds to wait for a reply.
    attempts : int, default 8
        Attempts per request.
    dry_run : bool, default False
        Estimate requests, tokens and cost without sending any request.
    prices : path or mapping, optional
        JSON file with prices per million tokens, as {"model": {"input": 0.15, "output": 0.6}}.
    max_cost : float, optional
        Maximum cost; the run stops before it exceeds this.
    batch_out : path, optional
        Write the open requests as an OpenAI batch file and stop.
    batch_in : path, optional
        Results file of a batch, to be read first.
    reparse : bool, default False
        Parse the cached replies again without sending any request.
    pattern : str, optional
        Regular expression that finds the rating in a reply, such as 'Score=(\\d+)'. It is tried before the default
        rules.
    reask : bool, default False
        Request again only the replies from which no rating could be parsed.
    keep_draws : bool, default False
        Also write the rating of each reply to the columns name#1, name#2 ….
    probe : int, default 0
        Also measure robustness to prompt injection: append attack texts to this number of outputs, judge them again,
        and report the change in ratings with a confidence interval. Each output needs eleven more replies.
    policy : path, optional
        Policy file written by `analyze delegate`. Adds a column `decision`: decided by the judge, or to be labeled by
        a human.
    out : path, optional
        Output file for the data with the judge's scores: .jsonl, .csv or .parquet.
    progress : callable, optional
        Called with the aspect, the number of requests done, and of how many.
    confirm : callable, optional
        Asked whether an endpoint that a task's file names may be asked.
    command : sequence of str, optional
        The command to repeat, which messages name.

    Returns
    -------
    JudgedData
        `data` with the judges' columns, `table`, and `stopped`: why it ended early, if it did. For a dry run or a batch
        file an CommandOutput.

    Examples
    --------
    >>> import nlgauge as ng
    >>> done = ng.judge("outputs.csv", judge="dialogue", model="llama3")  # doctest: +SKIP
    >>> ng.correlate(done.data)    # doctest: +SKIP

    $ nlgauge judge outputs.jsonl --aspect coherence --model gpt-4o-mini --dry-run

    $ nlgauge judge outputs.csv -j dialogue --scale 1-10 --draws 10 --model llama3 --base-url http://localhost:11434/v1

    $ nlgauge judge outputs.csv -j my_judge.yaml --labels labels.csv --model m   (also reports agreement with labels)

    $ nlgauge judge outputs.csv -j my_judge.yaml --mode pairwise --rivals 4 --model m -o judged.jsonl

    $ nlgauge judge summeval -j gao2025 --setting GPT4o_T=1_1_10 --aspect coherence -o judged.jsonl
    """
    say = tell or (lambda line: None)
    check_suffix(out)
    if reparse and reask:
        raise NlgaugeError(f"{option('reparse')} and {option('reask')} cannot be combined; use one of them.")
    read = dataset(data, **file)
    if isinstance(data, str | Path):
        say(" ".join(reading(read)))
    if rubric is not None:
        _check_rubric(judge, mode, prompts, probe)
        read, judge = with_rubric(read, rubric), "rubric" if judge == "summarization" else judge
        mode = mode or "rubric"
    settings: dict[str, Any] = {
        "model": model,
        "scale": scale,
        "n": draws,
        "temperature": temperature,
        "mode": mode,
        "base_url": base_url,
        "structured": structured,
        "fill": fill,
        "rivals": rivals,
        "references": references,
        "pattern": pattern,
    }
    if prompts is not None and isinstance(judge, str):
        if setting:
            raise NlgaugeError(f"{option('prompts')} and {option('setting')} cannot be combined; use one of them.")
        read, words = tuning_part(read, str(data), test)
        say(words)
        judges = _one_each(prompts, judge, listed(aspect), settings)
    elif isinstance(judge, str):
        judges = judges_of(judge, listed(aspect), name, listed(setting), **settings, prompt=str(prompt or ""))
    elif aspect or setting or any(value not in ("", 0, -1.0, False) for value in settings.values()):
        raise NlgaugeError("judge: a Judge has its own model, aspect and settings; name them there.")
    else:
        judges = [judge] if isinstance(judge, Judge) else list(judge)
    offline = dry_run or batch_out is not None or reparse
    if probe and offline:
        raise NlgaugeError(
            f"{option('probe')} sends requests; it cannot be combined with a dry run, a batch or reparsing."
        )
    if not offline:
        judges = _allowed(judges, allow_endpoint, confirm)
    known = load_prices(prices) if isinstance(prices, str | Path) else prices or {}
    replies = Replies()
    check_needs(read, judges)
    if not offline:
        judges[0].ready()
    if batch_in is not None or dry_run or batch_out is not None:
        batch = Batch.of(read)
        requests = [r for each in judges for r in each.decided().requests(batch)]
    if batch_in is not None:
        got = read_batch(batch_in, requests, replies)
        lost = f", {got.failed:,} failed (the last: {got.reason})" if got.failed else ""
        odd = f", {got.foreign:,} lines belong to other requests" if got.foreign else ""
        say(f"{batch_in}: {got.kept:,} replies kept{lost}{odd}")
    if batch_out is not None:
        count = write_batch(requests, replies, batch_out)
        told = f"written: {batch_out}, {count:,} requests; give its results to {option('batch_in')}"
        return command_output("judge-batch", [{"file": batch_out, "requests": count}], [told])
    if dry_run:
        planned = plan_cost(requests, replies, known)
        return command_output("judge-plan", [asdict(planned)], planned.lines())
    how = None
    if not offline:
        key = find_key(judges[0].decided().url, key_file)
        if key.withheld:
            say(key.withheld)
        budget = Budget(max_cost, known) if max_cost is not None else None
        how = Asking(concurrency, attempts, timeout, rpm, tpm, key=key, budget=budget)
    again: Mode = "reparse" if reparse else "reask" if reask else "ask"
    done = judge_data(
        read, judges, how=how, replies=replies, mode=again, prices=known, keep_draws=keep_draws, progress=progress
    )
    for lines in done.unread:
        for line in lines:
            say(line)
    repeat = _repeat(reparse, command)
    if done.nothing:
        raise NlgaugeError(
            f"{done.nothing.rstrip('.')}. {repeat('After you correct this, the same command resumes the run')}"
        )
    for each in done.replaced:
        say(f"the scores of '{each}' that the data had are replaced; {option('name')} keeps both")
    if policy is not None:
        judged, lines = with_decisions(done.data, policy)
        done = replace(done, data=judged)
        for line in lines:
            say(line)
    unwritten = (
        f"the scores are not written to a file; {option('out', 'judged.jsonl')} does (the replies are in the store "
        "either way)"
    )
    written = [unwritten] if out is None else export(done.data, out)
    tried = [str(each) for each in judges] if prompts is not None else []
    best, about = _best(done.data, tried)
    if probe and not done.stopped:
        best = [*best, *_probed(read, judges, probe, how, replies, say)]
    answers = [] if tried else answers_about(done.data, [row["judge"] for row in done.table])
    return replace(
        done,
        tables=[replace(done.table, answers=answers), *best],
        remarks=[*about, *written],
        unfinished=_unfinished(done, len(judges), out, repeat),
    )


def _check_rubric(judge: object, mode: str, prompts: Path | None, probe: int) -> None:
    """Raise an error for options that cannot be combined with a rubric."""
    if not isinstance(judge, str):
        raise NlgaugeError("judge: a Judge object has its own mode; name the task as a text to judge a rubric.")
    if mode not in ("", *RUBRIC_MODES) or prompts is not None or probe:
        raise NlgaugeError(
            f"{option('rubric')} goes with {option('mode', 'rubric')} or {option('mode', 'item')}, and with neither "
            f"{option('prompts')} nor {option('probe')}."
        )


def _unfinished(done: JudgedData, judges: int, out: str | Path | None, repeat: Callable[[str], str]) -> str:
    """Return why some outputs have no score, and how to score the rest."""
    if not done.stopped and not done.failures:
        return ""
    several = f" on {judges} aspects" if judges > 1 else ""
    why = (done.stopped or f"{done.failures:,} requests got no reply").rstrip(".")
    return (
        f"partly done: {why}. {done.scored:,} of {done.of:,} outputs{several} are scored"
        f"{f' and written to {out}' if out else ''}. {repeat('The same command goes on with the rest')}"
    )


def _repeat(reparse: bool, command: Sequence[str]) -> Callable[[str], str]:
    """Return a function that explains how to score the rest; with `reparse`, replies must be requested first."""
    if reparse:
        return lambda words: f"Without {option('reparse')} the missing replies are asked for."
    again = f": {shlex.join(['nlgauge', *command])}" if command else "."
    return lambda words: f"{words}{again}"


def answers_about(data: Dataset, metrics: Sequence[str]) -> list[str]:
    """Return the accuracy of these judges, if the human labels are pass and fail; otherwise nothing."""
    aspects = two_valued_aspects(data, data.aspects)
    if not aspects:
        return []
    session = Session(data, aspects, metrics, keep_human=True)
    tables: list[Table] = []
    for name in ("verdicts", "threshold"):
        with suppress(NeedsMissing):  # a judge with two values has no threshold, one with numbers no verdict
            tables += session.each(name)
    return [f"{table.rows[0]['aspect']}: {line}" for table in tables for line in lines_of(table)]


def _one_each(folder: Path, task: str, aspects: list[str] | None, settings: dict[str, Any]) -> list[Judge]:
    """Return one judge for each prompt of a folder, named after its file."""
    folder = Path(folder)
    files = sorted(p for p in folder.glob("*") if p.suffix in (".txt", ".md", ".yaml", ".yml"))
    tasks = [p for p in files if p.suffix in (".yaml", ".yml")]
    own = tasks or files  # templates next to tasks belong to them
    where = option("prompts", folder)
    if len(own) < 2:
        raise NlgaugeError(f"{where}: needs two templates (.txt, .md) or tasks (.yaml), found {len(own)}.")
    judges = [
        judges_of(str(p), aspects, p.stem, **settings)
        if tasks
        else judges_of(task, aspects, p.stem, **settings, prompt=str(p))
        for p in own
    ]
    if any(len(one) > 1 for one in judges):
        raise NlgaugeError(f"{where}: one aspect at a time; name it with {option('aspect')}.")
    return [one[0] for one in judges]


def _best(data: Dataset, tried: list[str]) -> tuple[list[Table], list[str]]:
    """Rank the prompts on the tuning set, with intervals corrected for selection, and return tables and remarks."""
    if not tried:
        return [], []
    try:
        tables = Session(data, metrics=tried).each("best-of")
    except NlgaugeError as error:
        return [], [f"which is best cannot be told: {error}"]
    best = tables[0].facts["best"]
    told = f"to know how good it is, judge the test part with '{best}' alone, once ({option('prompt')})"
    return tables, [told]


def _probed(
    data: Dataset, judges: list[Judge], sample: int, how: Asking | None, replies: Replies, say: Callable[[str], object]
) -> list[Table]:
    """Measure how much attack texts change the ratings of these judges; pairwise judges are excluded."""
    tables = []
    rating = [each for each in judges if each.decided().mode != "pairwise"]
    if len(rating) < len(judges):
        say("the probe adds attack texts to single outputs; pairwise judges are left out")
    for top in dict.fromkeys(each.decided().scale.top for each in rating):
        mine = [each for each in rating if each.decided().scale.top == top]
        made = attack_versions(data, sample, top)
        done = judge_data(made.data, mine, how=how, replies=replies)
        if done.stopped:
            raise NlgaugeError(f"probe: {done.stopped.rstrip('.')}.")
        scores = made.data.samples.select(KEY).join(done.data.scores, on=KEY, how="left", maintain_order="left")
        values = {
            str(each): scores[str(each)]
            .cast(pl.Float64)
            .fill_null(math.nan)
            .to_numpy()
            .reshape(1 + len(made.kinds), -1)
            for each in mine
        }
        tables.append(probe_table(data.name, made, values, top=top))
    return tables


def _allowed(judges: list[Judge], allowed: str, confirm: Callable[[str], bool] | None) -> list[Judge]:
    """Return the judges with the endpoint that a task file names, if the user allows it by an option or when asked."""
    told, task = judges[0].file_endpoint(), judges[0].task
    if allowed and allowed.rstrip("/") != told:
        what = f"names {told}" if told else "names no endpoint, or you named one"
        raise NlgaugeError(
            f"{option('allow_endpoint', allowed)}: {task} {what}; set the endpoint with {option('base_url')}."
        )
    if told and not allowed and confirm is not None:
        question = f"{task} names the endpoint {told}. Send the outputs there, and the key if there is one?"
        allowed = told if confirm(question) else ""
    return [replace(each, base_url=told) for each in judges] if told and allowed else judges
