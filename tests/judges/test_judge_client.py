"""Asking a judge over a real socket: whatever the server does, nothing is lost, nothing is made up, nothing is asked
twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_server import rating

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.client import Asking, ask
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.replies import Failure, Memory, Reply, Request
from nlgauge.metrics.judge.secret import Secret
from nlgauge.scoring.judging import judged
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store

Serve = Callable[..., Any]
QUICK = Asking(concurrency=16, pause=0.01, timeout=10)


def batch(n: int) -> Batch:
    return Batch.from_columns([f"output {i}" for i in range(n)], source=[f"article {i % 7}" for i in range(n)])


def judge(server: Any, **settings: Any) -> Judge:
    return Judge(aspect="coherence", model="m", base_url=server.base_url, **settings)


def test_a_faulty_server_changes_no_score(serve: Serve, tmp_path: Path) -> None:
    faults = {"429": 0.1, "500": 0.1, "drop": 0.1, "half": 0.1, "html": 0.05, "drip": 0.05}
    calm, wild = serve(), serve(faults=faults, most=3)
    samples = batch(150)
    right = judged(judge(calm), samples, Replies(Store(tmp_path / "a")), QUICK)
    found = judged(judge(wild), samples, Replies(Store(tmp_path / "b")), QUICK)
    np.testing.assert_array_equal(right.scores.values, found.scores.values)
    assert not np.isnan(found.scores.values).any()
    stats = wild.log()["stats"]
    assert all(stats.get(fault, 0) > 0 for fault in faults), stats


def test_a_second_run_asks_nothing_and_more_samples_ask_only_for_themselves(serve: Serve, tmp_path: Path) -> None:
    server, store = serve(), Store(tmp_path / "s")
    first = judged(judge(server), batch(40), Replies(store), QUICK)
    assert server.log()["stats"]["requests"] == 40
    again = judged(judge(server), batch(40), Replies(store), QUICK)
    assert server.log()["stats"]["requests"] == 40
    np.testing.assert_array_equal(first.scores.values, again.scores.values)
    judged(judge(server), batch(50), Replies(store), QUICK)
    assert server.log()["stats"]["requests"] == 50


def test_a_server_that_never_answers_is_an_error_with_the_reason_and_keeps_nothing(
    serve: Serve, tmp_path: Path
) -> None:
    server, store = serve(faults={"500": 1.0}, most=99), Store(tmp_path / "s")
    with pytest.raises(NlgaugeError, match="no request gets a reply; the last: HTTP 500"):
        judged(judge(server), batch(3), Replies(store), Asking(attempts=2, pause=0.01))
    server.set(faults={})
    assert not np.isnan(judged(judge(server), batch(3), Replies(store), QUICK).scores.values).any()


def test_a_reply_without_a_rating_is_unscored_never_zero(serve: Serve, tmp_path: Path) -> None:
    server = serve(replay={})
    server.set(replay=True)  # then it knows no reply
    result = judged(judge(server), batch(4), Replies(Store(tmp_path / "s")), QUICK)
    assert np.isnan(result.scores.values).all()
    assert set(result.scores.reasons.values()) == {"no rating found"}


def test_random_filling_is_an_explicit_choice_that_says_so(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    server.set(replay=True)
    result = judged(judge(server, fill="random"), batch(30), Replies(Store(tmp_path / "s")), QUICK)
    assert set(result.scores.values) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert len(set(result.scores.values)) > 1
    assert all("random" in note for note in result.scores.notes.values())
    assert len(result.scores.notes) == 30


def test_a_wrong_key_ends_the_run_in_one_line_that_hides_the_key(serve: Serve, tmp_path: Path) -> None:
    server = serve(key="right")
    how = Asking(key=Secret("sk-very-secret", "a file"), pause=0.01)
    with pytest.raises(NlgaugeError, match="401") as error:
        judged(judge(server), batch(3), Replies(Store(tmp_path / "s")), how)
    assert "sk-very-secret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_the_key_is_sent_and_stands_nowhere_in_the_store(serve: Serve, tmp_path: Path) -> None:
    server, store = serve(key="sk-right"), Store(tmp_path / "s")
    result = judged(judge(server), batch(3), Replies(store), Asking(key=Secret("sk-right", "a file")))
    assert not np.isnan(result.scores.values).any()
    store.close()
    for file in tmp_path.iterdir():
        assert b"sk-right" not in file.read_bytes()


def test_probabilities_weigh_the_rating(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    weighed = judged(judge(server, mode="logprobs"), batch(20), Replies(Store(tmp_path / "s")), QUICK)
    k = np.array([rating(r.body["messages"][-1]["content"]) for r in weighed.judge.requests(batch(20))])
    np.testing.assert_allclose(weighed.scores.values, (0.6 * k + 0.3 * (k % 5 + 1)) / 0.9)
    assert not weighed.scores.notes


@pytest.mark.parametrize("settings", [{"logprobs": False}, {"refuse": ["logprobs"]}])
def test_a_server_without_probabilities_is_named_on_every_score(
    serve: Serve, tmp_path: Path, settings: dict[str, Any]
) -> None:
    result = judged(judge(serve(**settings), mode="logprobs"), batch(5), Replies(Store(tmp_path / "s")), QUICK)
    assert not np.isnan(result.scores.values).any()
    assert len(result.scores.notes) == 5
    assert all("no logprobs" in note for note in result.scores.notes.values())


def test_structured_replies_are_read_and_a_refusal_of_them_is_named(serve: Serve, tmp_path: Path) -> None:
    good = judged(judge(serve(), structured=True), batch(5), Replies(Store(tmp_path / "a")), QUICK)
    assert not good.scores.notes
    less = judged(
        judge(serve(refuse=["response_format"]), structured=True), batch(5), Replies(Store(tmp_path / "b")), QUICK
    )
    assert all("response_format" in note for note in less.scores.notes.values())
    assert len(less.scores.notes) == 5


def test_draws_are_averaged_and_each_is_its_own_request(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    result = judged(judge(server, n=3), batch(10), Replies(Store(tmp_path / "s")), QUICK)
    assert server.log()["stats"]["requests"] == 30
    draws = result.judge.draws(batch(10), result.found)
    assert draws.shape == (10, 3)
    np.testing.assert_allclose(draws.mean(axis=1), result.scores.values)


def test_retry_after_is_honoured_by_all(serve: Serve) -> None:
    server = serve(faults={"429": 1.0}, most=1)
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    found = ask([Request(f"{server.base_url}/chat/completions", body)], Memory(), Asking(pause=0.001))
    (reply,) = found.values()
    assert isinstance(reply, Reply)
    assert server.log()["stats"] == {"requests": 2, "429": 1, "good": 1}


def test_a_hanging_server_times_out_and_is_asked_again(serve: Serve) -> None:
    server = serve(faults={"hang": 1.0}, most=1)
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    found = ask([Request(f"{server.base_url}/chat/completions", body)], Memory(), Asking(pause=0.01, timeout=0.3))
    assert all(isinstance(r, Reply) for r in found.values())


def test_no_server_is_a_failure_in_words() -> None:
    request = Request("http://127.0.0.1:9/v1/chat/completions", {"model": "m", "messages": []})
    (found,) = ask([request], Memory(), Asking(attempts=2, pause=0.01)).values()
    assert isinstance(found, Failure)
    assert "ConnectError" in found.reason


def test_two_processes_may_keep_replies_in_one_store(tmp_path: Path) -> None:
    one, two = Replies(Store(tmp_path / "s")), Replies(Store(tmp_path / "s"))
    request = Request("u", {"model": "m"})
    one.keep({request.key: Reply("first")}, {request.key: request})
    two.keep({request.key: Reply("second")}, {request.key: request})
    assert two.known([request.key])[request.key].text == "first"


def test_a_reply_comes_back_from_the_store_as_it_was(tmp_path: Path) -> None:
    replies = Replies(Store(tmp_path / "s"))
    request = Request("u", {"model": "m", "messages": [{"role": "user", "content": "\ud800 € \x00"}]}, 3)
    reply = Reply("né\x00", "m-1", "fp", "stop", 10, 2, 0.5, ((("4", -0.1), ("5", math.log(0.5))),), ("seed",))
    replies.keep({request.key: reply}, {request.key: request})
    assert replies.known([request.key]) == {request.key: reply}
    assert [row["reply"] for row in replies.all()] == ["né\x00"]
    assert replies.prune(model="other") == 0
    assert replies.prune(model="m") == 1
    assert replies.known([request.key]) == {}


def test_a_store_that_is_no_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("not a database, but long enough to be read as one" * 30)
    with pytest.raises(NlgaugeError, match="score store"):
        Replies(Store(tmp_path / "s"))


class Full(Memory):
    """A keeper whose disk is full."""

    def keep(self, replies: Any, requests: Any) -> None:
        raise NlgaugeError("score store: disk full")


def test_a_store_that_cannot_write_stops_the_run_before_more_is_paid(serve: Serve) -> None:
    server = serve(latency=0.02)
    bodies = [{"model": "m", "messages": [{"role": "user", "content": f"{i}"}]} for i in range(2000)]
    with pytest.raises(NlgaugeError, match="disk full"):
        ask([Request(f"{server.base_url}/chat/completions", b) for b in bodies], Full(), Asking(concurrency=4))
    assert server.log()["stats"]["requests"] < 200


def test_a_worker_that_misses_its_cancellation_asks_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`asyncio.wait_for` gives the answer instead of the cancellation when both come at once."""
    import asyncio

    from nlgauge.metrics.judge.client import _Run

    asked = []

    async def post(self: Any, http: Any, url: str, body: Any) -> Any:
        asked.append(1)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.02)
        return 200, {}, {"choices": [{"message": {"content": "4"}}]}, ""

    monkeypatch.setattr(_Run, "post", post)
    requests = [Request("http://h/v1", {"model": "m", "messages": [{"content": str(i)}]}) for i in range(2000)]
    with pytest.raises(NlgaugeError, match="disk full"):
        ask(requests, Full(), Asking(concurrency=4))
    assert len(asked) < 200


def test_references_are_shown_on_demand() -> None:
    judge = Judge(aspect="fluency", model="m", base_url="http://h/v1", references=True)
    assert "references" in judge.facts.needs
    samples = Batch.from_columns(["out"], source=["in"], references=[["the one", "the other"]])
    prompt = next(iter(judge.decided().requests(samples))).body["messages"][-1]["content"]
    assert "## Reference summary\nthe one" in prompt
    assert "the other" in prompt


def test_a_notebook_with_its_own_loop_can_ask_too(serve: Serve) -> None:
    import asyncio

    request = Request(
        f"{serve().base_url}/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    )

    async def cell() -> Any:
        return ask([request], Memory(), QUICK)

    with ThreadPoolExecutor(1) as own:  # a browser test in this process may hold a loop of its own
        (reply,) = own.submit(lambda: asyncio.run(cell())).result().values()
    assert isinstance(reply, Reply)
