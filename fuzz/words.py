"""Targets: what people and models write. Specs, names, replies, judge tasks, prices, batch files, paths, the store."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from fuzz.contract import Target, check, refused, text_of
from fuzz.readers import scratch
from nlgauge.cli._values import split_names
from nlgauge.data.load import load
from nlgauge.data.records import option_map, option_numbers
from nlgauge.datasets.download import inside
from nlgauge.metrics import metric_from_spec
from nlgauge.metrics.judge.batch_files import read_batch
from nlgauge.metrics.judge.completion import read_reply
from nlgauge.metrics.judge.cost import load_prices
from nlgauge.metrics.judge.expected_rating import expected_rating
from nlgauge.metrics.judge.pairwise import read_choice
from nlgauge.metrics.judge.replies import Memory, Request
from nlgauge.metrics.judge.reply_parser import parse_reply
from nlgauge.metrics.judge.scale import Scale
from nlgauge.metrics.judge.task import LIBRARY, load_task
from nlgauge.scoring.store import Store
from nlgauge.spec import format_spec, parse_spec
from nlgauge.stats.correlation.measure import Measure

SCALES = [Scale.parse(s) for s in ("1-5", "0-100", "A-E", "-1-1")]
SPECS = [
    b"bleu(order=2)",
    b"rouge-l(stem=True, beta=1.2)",
    b"ctc(aspect='consistency', align='E')",
    b"chrf",
    b"ter(references='mean')",
    b"bleu(preset='e2e', smooth=None)",
    b"levenshtein(unit='char')",
    b"rouge-su(gap=None)",
    b"f(a=[1, {'b': (2.5, -1)}], c=None)",
    b"judge(task='summarization', aspect='coherence', model='m')",
    b"my/file.py@metric(x=1)",
]
SOURCES = [
    b"summeval",
    b"wmt23-zh-en(domain='news')",
    b"scores.csv",
    b"no/such/folder",
    b"example",
    b"~/x.jsonl",
    b"x.csv.gz",
]
MEASURES = [b"input/kendall", b"system/pearson", b"item/acc-eq", b"global/tau-b", b"segment/kendall", b"system/spa"]
REPLIES = [
    b"4", b"**Rating:** 4/5", b"I would give it a 3 out of 5.", b'{"rating": 4}',
    b'```json\n{"analysis": "2 faults", "rating": '
        b'"4"}\n```',
    b"Fluency: 2/5. Content: 5/5. Final score: 4", b"three and a half stars", b"It could be shorter. 4", b"(B)",
    b"E) very good",
    b"Answer: C", b"Rating: 4. To reach a perfect 5/5 it needs detail.", b"They won 2-1 and scored two goals. "
        b"Rating: 3-4",
    b"A is longer, but B is true.\nBetter: B", b"tie", b"Score (1-5): 2", b"the score for the overall text "
        b"quality is a solid 4 because",
]  # fmt: skip
REQUEST = Request("http://x/v1/chat/completions", {"model": "m", "messages": []})
BODY = {
    "model": "m", "choices": [{"message": {"content": "4"}, "finish_reason": "stop", "logprobs": {"content": [
        {"token": "4", "logprob": -0.1, "top_logprobs": [{"token": "4", "logprob": -0.1}, {"token": "5",
            "logprob": -2.0}]}]}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1}, "system_fingerprint": "f",
}  # fmt: skip
LINE = {"custom_id": REQUEST.key.hex(), "response": {"status_code": 200, "body": BODY}, "error": None}
PRICES = {"m": {"input": 0.15, "output": 0.6}, "n": {"input": 1, "output": 2}}

STRANGER = b"task: x\naspects: {a: b}\nprompt: ../prompt.txt\nbase_url: https://judge.example/v1\n"


def targets() -> Iterator[Target]:
    yield Target(
        "spec", spec, SPECS, 200, [b"order=", b"True", b"lambda:0", b"__import__('os')", b"*a", b"**a", b"1j", b"f''"]
    )
    yield Target("metric-spec", metric_spec, SPECS, 100, [b"order=", b"None", b"preset='coco'", b"-1", b"1e9"])
    yield Target("measure", measure, MEASURES, 100)
    yield Target("scale", scale, [b"1-5", b"0-100", b"A-E", b"-1 to 1", b"0..10"], 100)
    yield Target(
        "reply", reply, REPLIES, 200, [b"rating ", b"score of ", b" out of ", b"four", b"final ", b"a ", b"stars"]
    )
    yield Target("choice", choice, REPLIES, 100, [b"A", b"B", b"better", b"winner is "])
    yield Target("completion", completion, [_json(BODY)], 100)
    yield Target(
        "task",
        task,
        [*(p.read_bytes() for p in sorted(LIBRARY.glob("*.yaml"))), STRANGER],
        4,
        [b"../", b"/etc/passwd", b"prompt: ", b"base_url: ", b"&a ", b"*a", b"- ", b"? ", b"|\n "],
    )
    yield Target("prices", prices, [_json(PRICES)], 20)
    yield Target("batch", batch, [_json(LINE) + b"\n" + _json(LINE)], 20)
    yield Target("option", option, [b"good=3,bad=1", b"0=first,1=second", b"a,b,c(d=1,e=2)"], 100)
    yield Target(
        "path",
        path,
        [b"a/b.csv", b"../x", b"/etc/passwd", b"a/../../b", b"c:\\x", b"."],
        100,
        [b"../", b"~", b"\\..\\"],
    )
    yield Target("source", source, SOURCES, 50, [b"(", b")", b"lp='en-de'", b".csv", b"/"])
    yield Target("store", store, [_store()], 4)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def spec(data: bytes) -> None:
    found = refused(lambda: parse_spec(text_of(data)))
    if found is not None:
        name, options = found
        check(name and all(isinstance(o, str) for o in options), "a spec without a name")


def metric_spec(data: bytes) -> None:
    found = refused(lambda: metric_from_spec(text_of(data)))
    if found is not None:
        again = metric_from_spec(format_spec(found.facts.name, found))
        check(again == found or str(again) == str(found), "a spec that does not come back")


def measure(data: bytes) -> None:
    found = refused(lambda: Measure.parse(text_of(data)))
    check(found is None or Measure.parse(str(found)) == found, "a measure that does not come back")


def scale(data: bytes) -> None:
    found = refused(lambda: Scale.parse(text_of(data)))
    if found is not None and found.high - found.low < 1e4:
        check(str(found) and found.low < found.high and found.low in found, "a scale upside down")
        check(all(point in found for point in found.points()), "a point outside the scale")


def reply(data: bytes) -> None:
    for known in SCALES:
        found = parse_reply(text_of(data), known)
        check((found.value is None) == bool(found.reason), "neither a rating nor a reason, or both")
        check(found.value is None or found.value in known, "a rating outside its scale")


def choice(data: bytes) -> None:
    check(read_choice(text_of(data)) in (None, 0.0, 0.5, 1.0), "no choice")


def completion(data: bytes) -> None:
    """`read_reply` answers with a Reply or with ValueError: the client counts that as a failed call."""
    try:
        body = json.loads(text_of(data))
    except (ValueError, RecursionError):
        return
    try:
        found = read_reply(body)
    except ValueError:
        return
    check(isinstance(found.text, str), "a reply without a text")
    for known in SCALES:
        rating = expected_rating(found, known)
        check(
            rating is None or known.low - 1e-9 <= rating <= known.high + 1e-9,
            f"expected rating {rating} outside {known}",
        )


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    def run(data: bytes) -> Any:
        path = scratch() / name
        path.write_bytes(data)
        return refused(lambda: read(path))

    return run


def task(data: bytes) -> None:
    found = _file("task.yaml", lambda path: load_task(str(path)))(data)
    if found is not None:
        check(found.aspects and found.task, "a task without aspects")
        check(all("{example}" in text for text in found.prompts.values()), "a prompt that is no template")
        check(len(repr(found)) < 100 * (len(data) + 1000), "a task much larger than its file")
        refused(lambda: Scale.parse(found.scale))
        refused(lambda: found.aspect("coherence"))
        refused(lambda: found.prompt(found.mode))


def prices(data: bytes) -> None:
    _file("prices.json", load_prices)(data)


def batch(data: bytes) -> None:
    found = _file("batch.jsonl", lambda path: read_batch(path, [REQUEST], Memory()))(data)
    check(found is None or found.kept <= 1 + data.count(b"\n"), "more results than lines")


def option(data: bytes) -> None:
    text = text_of(data)
    split_names([text])
    refused(lambda: option_map("values", text))
    refused(lambda: option_numbers("values", text))


def path(data: bytes) -> None:
    folder = scratch() / "mirror"
    found = refused(lambda: inside(folder, text_of(data)))
    check(found is None or found.resolve().is_relative_to(folder.resolve()), "a path that leads out")


def source(data: bytes) -> None:
    """What a user may type for FILE: a path or a published set; the data folder is an empty one."""
    with mock.patch.dict(os.environ, {"NLGAUGE_DATA": str(scratch() / "mirror")}):
        refused(lambda: load(text_of(data)))


def _store() -> bytes:
    from nlgauge.metrics.judge.replies import Reply, Request
    from nlgauge.scoring.replies import Replies
    from nlgauge.scoring.store import StoredScore

    path = scratch() / "seed.sqlite"
    path.unlink(missing_ok=True)
    kept = Store(path)
    kept.put("bleu|version:1", {bytes([i]): StoredScore(i / 50, None, "short" if i % 9 else None) for i in range(50)})
    asked = [Request("http://x/v1", {"model": "m", "messages": [{"content": f"Rate {i}."}]}) for i in range(8)]
    Replies(kept).keep(
        {r.key: Reply(f"Rating: {i}", "m", seconds=0.5) for i, r in enumerate(asked)}, {r.key: r for r in asked}
    )
    kept.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    return path.read_bytes()


def store(data: bytes) -> None:
    from fuzz.verbs import called
    from nlgauge.metrics.judge.replies import Request
    from nlgauge.scoring.replies import Replies

    path = scratch() / "fuzzed.sqlite"
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(data)
    kept = Store(path)
    try:
        refused(kept.counts)
        refused(lambda: kept.get("bleu|version:1", [bytes([i]) for i in range(50)]))
        for call in ("info", "export"):
            refused(
                lambda call=call: called(
                    "cache", call, *(["{out}.jsonl"] if call == "export" else []), "--store", str(path), file=path
                )
            )  # type: ignore[misc]
        asked = [Request("http://x/v1", {"model": "m", "messages": [{"content": f"Rate {i}."}]}) for i in range(8)]
        refused(lambda: Replies(kept).known(r.key for r in asked))
        refused(lambda: Replies(kept).claim(r.key for r in asked))
    finally:
        kept.close()
