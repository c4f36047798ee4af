"""promptfoo: results of `promptfoo eval -o FILE.json` (or .jsonl) and of `promptfoo export eval`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, Log, LogReader
from nlgauge.data.records import Record, parse_json, read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

HUMAN_TYPE = "human"  # type of the assertion that the web page adds for a thumb up or down
GRADED = {
    "agent-rubric", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance", "factuality",
    "g-eval", "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "search-rubric", "select-best",
    "trajectory:goal-success",
}  # fmt: skip
# Assertions whose value is the expected output.
EXPECTED = {"equals", "iequals", "similar", "factuality", "rouge-n", "bleu", "gleu", "meteor", "levenshtein"}


@register("reader", "promptfoo", only="json")
class Promptfoo(LogReader):
    """promptfoo results (.json, .jsonl): every assertion is a metric, thumbs given by users are human ratings."""

    takes = Takes(
        "`promptfoo eval -o FILE.json` or `.jsonl`, `promptfoo export eval`",
        human="thumbs up and down given in the web page (assertions of type `human`)",
        scores="the score of every assertion, under its `metric` or its type",
        tested="promptfoo 0.121.20",
    )
    tool = "promptfoo"

    keys = ({"evalId", "results"}, {"gradingResult", "testCase", "provider"})

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        results = _results(path, encoding)
        prompts = {(_name(r), str(_prompt(r).get("label"))) for r in results}
        several = len(prompts) > len({name for name, _ in prompts})
        seen: Counter[tuple[str, str]] = Counter()
        for result in results:
            response = result.maybe("response", dict) or {}
            if response.get("output") is None:
                log.not_read["results without an output"] += 1
                continue
            system = _name(result) + (f" | {_prompt(result).get('label')}" if several else "")
            given = str(result.want("testIdx", int, str))
            seen[system, given] += 1
            case = result.maybe("testCase", dict) or {}
            asserted = [a for a in case.get("assert") or () if isinstance(a, dict)]
            row = log.output(
                system,
                given,
                repeat=seen[system, given],
                extra=result.maybe("vars", dict) or case.get("vars") or {},
                output=response["output"],
                source=_prompt(result).get("raw"),
                references=[a.get("value") for a in asserted if str(a.get("type")) in EXPECTED],
            )
            _judge(log, row, result, case)


def _results(path: Path, encoding: str | None) -> list[Record]:
    text = decode(path, read_bytes(path), encoding)
    if path.suffix == ".jsonl":
        return read_records(path, encoding)
    whole = parse_json(str(path), text)
    inner = whole.get("results") if isinstance(whole, dict) else None
    if not isinstance(inner, dict) or "results" not in inner:
        raise DataError(f"{path}: no key 'results' in 'results'; promptfoo 0.90 or newer is needed to write the file.")
    return Record(f"{path}, key 'results'", 0, inner).children("results")


def _name(result: Record) -> str:
    provider = result.maybe("provider", dict, str)
    return str(provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider)


def _prompt(result: Record) -> dict[str, Any]:
    prompt = result.maybe("prompt", dict, str)
    return prompt if isinstance(prompt, dict) else {"raw": prompt}


def _judge(log: Log, row: int, result: Record, case: dict[str, Any]) -> None:
    """Add each assertion; the score of the row is not used, since a thumb in the web page overwrites it."""
    grading = Record(f"{result.where}, key 'gradingResult'", 0, result.maybe("gradingResult", dict) or {})
    options, used = case.get("options"), Counter[str]()
    for part in grading.children("componentResults"):
        assertion = part.maybe("assertion", dict) or {}
        kind = str(assertion.get("type"))
        if kind == HUMAN_TYPE:
            log.judged(row, HUMAN_TYPE, part.values.get("pass"), HUMAN)
            continue
        name = str(assertion.get("metric") or kind)
        used[name] += 1
        judge = assertion.get("provider") or (options.get("provider") if isinstance(options, dict) else None)
        judge = judge.get("id") if isinstance(judge, dict) else judge
        graded = kind.removeprefix("not-") in GRADED
        log.judged(
            row,
            f"{name} #{used[name]}" if used[name] > 1 else name,
            part.values.get("score"),
            MODEL if graded else CODE,
            judge if graded and isinstance(judge, str) else None,
        )
