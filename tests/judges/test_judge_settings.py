"""The prompt and the eighteen settings of gao2025, over a real socket: what is sent, and what becomes of the replies."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_judge_verb import nlgauge

from nlgauge.errors import DataError, NameUnknown, NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.client import Asking
from nlgauge.metrics.judge.expected_rating import expected_rating
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.replies import Reply, Request
from nlgauge.metrics.judge.scale import Scale
from nlgauge.metrics.judge.task import load_task
from nlgauge.scoring.judge_data import judges_of
from nlgauge.scoring.judging import judged
from nlgauge.scoring.replies import Replies
from nlgauge.scoring.store import Store

Serve = Callable[..., Any]
# Section 3.2 and Table 6: three models × three scales × two ways to sample.
MODELS = {"GPT3.5": "gpt-3.5-turbo-1106", "GPT4": "gpt-4-turbo-1106", "GPT4o": "gpt-4o"}
SCALES = {"0_100": "0-100", "1_10": "1-10", "1_5": "1-5"}
SAMPLING = {"T=0": (0.0, 1), "T=1": (1.0, 10)}
EIGHTEEN = [f"{m}_{t}_{s}" for m in MODELS for t in SAMPLING for s in SCALES]
# Table 4, with its holes filled for one summary. Between the marks of the criterion stands what the task says of it.
BEFORE = (
    "###Instruction###\n"
    "Please act as an impartial and helpful evaluator for natural language generation (NLG), and the audience is an "
    "expert in the field.\n"
    "Your task is to evaluate the quality of summaries of news articles strictly based on the given evaluation "
    "criterion.\n"
    "Begin the evaluation by providing your analysis concisely and accurately, and then on the next line, start with "
    '"Rating:" followed by your rating on a Likert scale from {scale} (higher means better).\n'
    "You MUST keep to the strict boundaries of the evaluation criterion and focus solely on the issues and errors "
    "involved; otherwise, you will be penalized.\n"
    "Make sure you read and understand these instructions, as well as the following evaluation criterion and example "
    "content, carefully.\n\n###Evaluation Criterion###\ncoherence: "
)
AFTER = "\n\n###Example###\nArticle:\narticle 0\n\nSummary:\noutput 0\n\n###Your Evaluation###\n"


def batch(n: int) -> Batch:
    return Batch.from_columns([f"output {i}" for i in range(n)], source=[f"article {i}" for i in range(n)])


def test_the_task_has_the_eighteen_settings_of_the_paper() -> None:
    assert load_task("gao2025").named_settings() == EIGHTEEN


@pytest.mark.parametrize("name", EIGHTEEN)
def test_each_setting_sends_what_the_paper_says_and_averages_what_comes(
    serve: Serve, tmp_path: Path, name: str
) -> None:
    model, sampling, scale = name.split("_", 2)
    temperature, n = SAMPLING[sampling]
    lowest = 0 if scale == "0_100" else 1
    said = [lowest + k % 5 for k in range(10)]
    server = serve(bodies=True, says=[f"It is as it is, since 1999.\nRating: {k}" for k in said])
    judge = Judge(task="gao2025", aspect="coherence", setting=name, base_url=server.base_url)
    found = judged(judge, batch(1), Replies(Store(tmp_path / "s")), Asking(concurrency=1, pause=0.01))
    bodies = server.log()["bodies"]
    assert len(bodies) == n
    for body in bodies:
        (message,) = body["messages"]
        assert message["role"] == "user"
        assert message["content"].startswith(BEFORE.format(scale=SCALES[scale]))
        assert message["content"].endswith(AFTER)
        assert (body["model"], body["temperature"]) == (MODELS[model], temperature)
    assert found.scores.values[0] == pytest.approx(sum(said[:n]) / n)
    assert str(judge) == f"{name}-coherence"


def test_a_reply_without_a_rating_gets_a_random_one_only_where_asked_and_says_so(serve: Serve, tmp_path: Path) -> None:
    server = serve(says="I cannot rate this.")
    how = Asking(concurrency=4, pause=0.01)
    plain = Judge(task="gao2025", aspect="coherence", setting="GPT4o_T=0_1_5", base_url=server.base_url)
    found = judged(replace(plain, fill="random"), batch(40), Replies(Store(tmp_path / "s")), how)
    assert set(found.scores.values) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert all("random" in note for note in found.scores.notes.values()) and len(found.scores.notes) == 40
    kept = judged(plain, batch(40), Replies(Store(tmp_path / "s")), how)
    assert all(math.isnan(v) for v in kept.scores.values)
    assert server.log()["stats"]["requests"] == 40  # the same replies, read otherwise


def test_a_setting_without_its_model_takes_yours_and_says_which() -> None:
    mine = Judge(task="gao2025", aspect="fluency", setting="T=1_1_10", model="org/llama-8b", base_url="http://h/v1")
    decided = mine.decided()
    assert (decided.model, str(decided.scale), decided.n, decided.temperature) == ("org/llama-8b", "1-10", 10, 1.0)
    assert str(mine) == "llama-8b_T=1_1_10-fluency"
    other = Judge(task="gao2025", aspect="fluency", setting="GPT4_T=1_1_10", model="gpt-4-1106-preview")
    assert str(other) == "gpt-4-1106-preview_T=1_1_10-fluency"  # never the paper's name on another model
    # What is said on the command line goes before the setting.
    assert Judge(task="gao2025", aspect="fluency", setting="T=1_1_10", n=3, scale="1-7").decided().n == 3


def test_all_settings_at_once_and_the_names_they_get() -> None:
    assert len({str(j) for j in judges_of("gao2025", ["coherence"], settings=["all"])}) == 18
    assert len({str(j) for j in judges_of("gao2025", ["coherence"], settings=["all"], model="m")}) == 6
    with pytest.raises(NlgaugeError, match="expected one setting"):
        judges_of("gao2025", ["coherence"], "house", ["T=0_1_5", "T=1_1_5"], model="m")


def test_unknown_settings_are_one_line() -> None:
    with pytest.raises(NameUnknown, match="no setting 'GPT4_T=1_1_6'"):
        load_task("gao2025").setting("GPT4_T=1_1_6")
    with pytest.raises(NameUnknown, match="'story' has no settings"):
        load_task("story").setting("T=0_1_5")


def test_a_task_of_ones_own_borrows_prompt_and_settings(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("task: jokes\noutput: Joke\naspects: {funny: One laughs.}\nlike: gao2025\n")
    judge = Judge(task=str(tmp_path / "mine.yaml"), setting="T=1_0_100", model="m", base_url="http://h/v1").decided()
    body = next(judge.requests(batch(1))).body
    prompt = body["messages"][0]["content"]
    assert "evaluate the quality of jokes strictly" in prompt and "funny: One laughs." in prompt
    assert prompt.endswith("###Example###\nJoke:\noutput 0\n\n###Your Evaluation###\n")
    assert "from 0-100 (higher" in prompt and (judge.n, body["temperature"]) == (10, 1.0)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("like: ../secret.yaml", "like '../secret.yaml'"),
        ("settings: {a: {scal: 1-5}}", "Did you mean 'scale'"),
        ("settings: {a: 1-5}", "setting 'a' is empty"),
        ("settings: {a: {n: many}}", "many"),
        ("settings: {a: {n: [1, 2]}}", "list or a mapping"),
        ("settings: 7", "not a list of name: value"),
        ("models: [a]", "list or a mapping"),
    ],
)
def test_a_bad_setting_is_one_clear_line(tmp_path: Path, more: str, says: str) -> None:
    (tmp_path / "bad.yaml").write_text(f"task: x\naspects: {{a: b}}\n{more}\n")
    with pytest.raises(DataError, match=says):
        load_task(str(tmp_path / "bad.yaml"))


def test_the_verb_runs_settings_by_name_and_lists_them(serve: Serve, tmp_path: Path) -> None:
    server = serve()
    lines = ["system,input,output,source", *(f"s{i % 2},i{i // 2},output {i},article {i // 2}" for i in range(4))]
    (tmp_path / "o.csv").write_text("\n".join(lines) + "\n")
    words = ["judge", "o.csv", "-j", "gao2025", "--setting", "GPT4o_T=0_1_5,GPT4o_T=1_1_5", "--aspect", "coherence"]
    ran = nlgauge(tmp_path, *words, "--base-url", server.base_url, "-f", "json", "-o", "judged.jsonl")
    assert ran.returncode == 0, ran.stderr
    got = json.loads(ran.stdout)["tables"][0]["rows"]
    assert [(r["judge"], r["replies"]) for r in got] == [
        ("GPT4o_T=0_1_5-coherence", 4),
        ("GPT4o_T=1_1_5-coherence", 40),
    ]
    shown = nlgauge(tmp_path, "list", "judges", "gao2025", "-f", "json")
    rows = json.loads(shown.stdout)["tables"][0]["rows"]
    assert [r["setting"] for r in rows] == EIGHTEEN
    wrong = nlgauge(tmp_path, *words[:-2], "--setting", "GPT5", "--base-url", server.base_url)
    assert wrong.returncode == 2 and "no setting 'GPT5'" in wrong.stderr and "Traceback" not in wrong.stderr


def test_digits_of_a_longer_number_are_not_weighed_as_ratings() -> None:
    """A model that writes 85 as 8 and 5 tells the alternatives of each digit: their mean is no rating."""
    scale = Scale.parse("0-100")
    split = Reply("85", logprobs=((("8", -0.1), ("9", -2.4)), (("5", -0.2), ("0", -1.8))))
    assert expected_rating(split, scale) is None
    whole = Reply("85", logprobs=((("85", math.log(0.75)), ("95", math.log(0.25))),))
    assert expected_rating(whole, scale) == pytest.approx(87.5)
    apart = Reply("2 4", logprobs=((("2", -0.1), ("3", -2.4)), ((" 4", math.log(0.5)), (" 5", math.log(0.5)))))
    assert expected_rating(apart, Scale.parse("1-5")) == pytest.approx(4.5)
    protocol = Judge(task="gao2025", aspect="coherence", mode="logprobs", scale="0-100", model="m").decided()
    read = protocol.read(split, Request("u", {}))
    assert read.value == 85.0 and read.note.startswith("no logprobs of whole ratings")
