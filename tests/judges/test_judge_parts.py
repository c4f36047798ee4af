"""Tasks, prices, batch files, pairs: the small parts of a judge."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import DataError, NameUnknown, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.judge.batch_files import read_batch, write_batch
from nlgauge.metrics.judge.client import Asking, ask
from nlgauge.metrics.judge.cost import Budget, Price, load_prices, plan
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.pairwise import all_pairs, read_choice
from nlgauge.metrics.judge.rate_limits import Bucket
from nlgauge.metrics.judge.replies import Memory, Reply, Request
from nlgauge.metrics.judge.task import load_task, shipped
from nlgauge.scoring.judging import judged
from nlgauge.scoring.plan import Fields
from nlgauge.scoring.plan import plan as plan_metrics
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store

MINE = """
task: jokes
output: Joke
aspects: {funny: Whether one laughs.}
scale: 0-10
mode: rating
"""


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_task_fills_every_hole_of_every_prompt(name: str) -> None:
    task = load_task(name)
    batch = Batch.from_columns(
        ["the output", "another"], source=["s", "s"], context=["c", "c"], control=["x", "x"], input=[1, 1]
    )
    for aspect in task.aspects:
        for mode in ("analysis", "rating", "logprobs", "pairwise"):
            judge = Judge(task=name, aspect=aspect, mode=mode, model="m", base_url="http://h/v1").decided()
            prompt = next(iter(judge.requests(batch))).body["messages"][-1]["content"]
            assert "{" not in prompt
            assert "the output" in prompt
            assert task.aspects[aspect] in prompt


def test_a_users_own_yaml_works_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE)
    judge = metric_from_spec(f"judge(task='{path}', model='m')")
    assert judge.facts.bounds == (0, 10)
    assert judge.facts.needs == {"output"}
    assert judge.decided().aspect == "funny"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task: [", "line 1"),
        ("- a", "found list"),
        ("aspects: {a: b}", "`task:` is missing"),
        ("task: x\naspects: a", "`aspects:`"),
        ("task: x\naspects: {a: b}\nscle: 1-5", "Did you mean 'scale'"),
        ("task: x\naspects: {a: b}\nmode: guess", "no mode|mode 'guess'"),
        ("task: x\naspects: {a: b}\nshows: {picture: P}", "shows 'picture'"),
        ("task: x\naspects: {a: b}\nprompt: gone.txt", "gone.txt"),
        ("task: x\naspects: {a: b}\nn: many", "many"),
    ],
)
def test_a_bad_yaml_is_one_clear_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(DataError, match=says) as error:
        load_task(str(path))
    assert str(path.parent) in str(error.value)


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(NameUnknown, match="Did you mean 'summarization'"):
        load_task("sumarisation")
    with pytest.raises(NameUnknown, match="Did you mean 'coherence'"):
        Judge(aspect="coherense")
    with pytest.raises(NlgaugeError, match="no endpoint"):
        Judge(aspect="coherence", model="m").ready()


def test_a_text_that_looks_like_a_hole_stays_as_it_is() -> None:
    judge = Judge(aspect="coherence", model="m", base_url="http://h/v1").decided()
    batch = Batch.from_columns(["say {scale} and {definition}"], source=["{aspect}"])
    prompt = next(iter(judge.requests(batch))).body["messages"][-1]["content"]
    assert "say {scale} and {definition}" in prompt
    assert "{aspect}" in prompt


def test_the_spec_round_trips_and_the_signature_names_what_matters() -> None:
    spec = "judge(aspect='fluency', model='m', scale='1-10', n=10)"
    judge = metric_from_spec(spec)
    assert judge.spec == spec  # type: ignore[attr-defined]
    assert str(judge) == "m-fluency"
    decided = judge.decided()  # type: ignore[attr-defined]
    assert (decided.temperature, decided.n) == (1.0, 10)  # ten draws at T=0 would be one
    for part in ("model:m", "scale:1-10", "n:10", "temperature:1.0", "prompt:"):
        assert part in judge.signature  # type: ignore[attr-defined]


def test_a_judge_is_called_by_a_short_name_that_no_endpoint_and_no_setting_changes() -> None:
    """What stands in columns, tables and pages; `diff` finds a judge again by it."""
    settings = {"aspect": "fluency", "model": "meta-llama/Llama-3.1-8B:free", "base_url": "https://secret.example/v1"}
    judge = Judge(**settings)  # type: ignore[arg-type]
    assert str(judge) == "Llama-3.1-8B-free-fluency"
    assert str(replace(judge, scale="1-10", base_url="https://other.example/v1", n=5)) == str(judge)
    assert str(replace(judge, name="house judge")) == "house judge"
    assert "secret.example" not in judge.signature
    assert replace(judge, base_url="https://other.example/v1").signature != judge.signature
    for wrong in ("my.yaml", "dialogue"):
        with pytest.raises(NlgaugeError, match=f"task='{wrong}'"):
            Judge(name=wrong)


def test_two_judges_of_one_name_are_not_taken_for_one() -> None:
    one, two = (Judge(aspect="fluency", model="m", base_url="http://h/v1", scale=s) for s in ("1-5", "1-10"))
    with pytest.raises(NlgaugeError, match="two metrics have the name 'm-fluency'"):
        plan_metrics(Fields("d", {"output", "source"}, ["output", "source"]), [one, two])


def requests(n: int) -> list[Request]:
    return [
        Request("u", {"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": f"{i} " * 200}]})
        for i in range(n)
    ]


def test_a_plan_counts_what_is_open_and_prices_the_worst_case(tmp_path: Path) -> None:
    keeper, asked = Memory(), requests(10)
    keeper.keep({asked[0].key: Reply("4")}, {})
    found = plan([*asked, asked[1]], keeper, {"m": Price(1.0, 2.0)})
    assert (found.requests, found.known, found.tokens_out_most) == (10, 1, 900)
    assert found.tokens_in == 9 * (400 // 4 + 8)
    assert found.cost_most == pytest.approx((found.tokens_in + 2 * 900) / 1e6)
    assert plan(asked, keeper, {}).cost_most is None


def test_the_price_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"m": {"input": 0.15, "output": 0.6}}')
    assert load_prices(path) == {"m": Price(0.15, 0.6)}
    path.write_text('{"m": 3}')
    with pytest.raises(DataError, match="million"):
        load_prices(path)
    with pytest.raises(DataError, match="price of 'x'"):
        Budget(1.0, {})(Request("u", {"model": "x"}), None)


def test_the_budget_stops_before_the_limit_and_keeps_what_was_paid(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    prices = {"m": Price(1e3, 1e3)}  # a tenth of a cent a token
    budget = Budget(10.0, prices)
    batch = Batch.from_columns([f"output {i}" for i in range(200)], source=["a"] * 200)
    judge, store = (Judge(aspect="fluency", model="m", mode="rating", base_url=server.base_url), Store(tmp_path / "s"))
    result = judged(judge, batch, Replies(store), Asking(concurrency=4, budget=budget))
    scored = int((~np.isnan(result.scores.values)).sum())
    assert 0 < scored < 200
    assert budget.spent <= 10.0
    assert "max_cost" in result.scores.reasons[199]
    assert server.log()["stats"]["requests"] == scored == sum(1 for _ in Replies(store).all())
    judged(judge, batch, Replies(store), Asking(concurrency=4))
    assert server.log()["stats"]["requests"] == 200


def test_a_batch_file_goes_out_and_its_results_come_in_as_if_asked(serve: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    batch = Batch.from_columns([f"output {i}" for i in range(5)], source=["a"] * 5)
    judge = Judge(aspect="fluency", model="m", base_url=server.base_url).decided()
    asked, keeper = list(judge.requests(batch)), Memory()
    assert write_batch(asked, keeper, tmp_path / "out.jsonl") == 5
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    right = ask(asked, Memory(), Asking())
    sent = {line["custom_id"]: Request(asked[0].url, line["body"]) for line in lines}
    answers = ask(sent.values(), Memory(), Asking())
    by_id = {key: answers[request.key] for key, request in sent.items()}
    results = []
    for line in lines:
        text = by_id[line["custom_id"]].text  # type: ignore[union-attr]
        body = {
            "choices": [{"message": {"content": text}}],
            "model": "m",
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }
        results.append({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}})
    results[4]["response"] = {"status_code": 500, "body": {}}
    results.append({"custom_id": "00ff", "response": {}})
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, results)))
    read = read_batch(tmp_path / "in.jsonl", asked, keeper)
    assert (read.kept, read.failed, read.foreign) == (4, 1, 1)
    assert write_batch(asked, keeper, tmp_path / "rest.jsonl") == 1
    scores = judge.scores(batch, {**ask(asked[:4], keeper, Asking()), asked[4].key: right[asked[4].key]})
    np.testing.assert_array_equal(scores.values, judge.scores(batch, right).values)
    with pytest.raises(DataError, match="line 1"):
        (tmp_path / "bad.jsonl").write_text("nonsense")
        read_batch(tmp_path / "bad.jsonl", asked, keeper)


def test_pairs_are_shown_in_both_orders_and_rivals_limit_them() -> None:
    inputs = np.array([0, 0, 0, 0, 1, 1, 2])
    pairs = [(p.first, p.second) for p in all_pairs(inputs)]
    assert len(pairs) == len(set(pairs)) == 2 * (6 + 1)
    assert all((b, a) in pairs for a, b in pairs)
    fewer = [(p.first, p.second) for p in all_pairs(np.zeros(10, int), rivals=2)]
    met = {i: {b for a, b in fewer if a == i} for i in range(10)}
    assert {len(others) for others in met.values()} == {2}


@pytest.mark.parametrize(
    ("reply", "share"),
    [
        ("Better: A", 1.0),
        ("**Better:** B", 0.0),
        ("tie", 0.5),
        ("A", 1.0),
        ("Verdict: Summary B", 0.0),
        ("A is better in places", None),
        ("", None),
    ],
)
def test_a_choice_is_read(reply: str, share: float | None) -> None:
    assert read_choice(reply) == share


def test_pairwise_scores_are_shares_of_wins(serve: Callable[..., Any], tmp_path: Path) -> None:
    """The server prefers the output it rates higher; so the scores are what comparing its ratings by hand gives."""
    from judge_server import rating

    texts = [f"text {i}" for i in range(6)]
    batch = Batch.from_columns(texts, source=["a"] * 6, input=[1, 1, 1, 2, 2, 2])
    judge = Judge(aspect="fluency", model="m", mode="pairwise", base_url=serve().base_url)
    found = judged(judge, batch, Replies(Store(tmp_path / "s")), Asking())
    merit = [rating(t) for t in texts]
    for i in range(6):
        rivals = [j for j in range(6) if j // 3 == i // 3 and j != i]
        expected = math.fsum(0.5 if merit[i] == merit[j] else float(merit[i] > merit[j]) for j in rivals) / 2
        assert found.scores.values[i] == pytest.approx(expected)


def test_a_bucket_lets_through_its_rate_and_no_more() -> None:
    now = 100.0
    bucket = Bucket(60, clock=lambda: now)
    waits = [bucket.wait(1) for _ in range(4)]
    assert waits == pytest.approx([0.0, 1.0, 2.0, 3.0])
    now += 10
    assert bucket.wait(1) == 0.0
