"""How a run of a judge ends when the endpoint does not play along: early, with the cause, and with nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import run_command

Serve = Callable[..., Any]
NLGAUGE = [sys.executable, "-c", "from nlgauge.cli import main; main()"]
KEYS = ("NLGAUGE_API_KEY", "OPENAI_API_KEY", "NLGAUGE_BASE_URL", "OPENAI_BASE_URL", "NLGAUGE_MODEL")


def nlgauge(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"NLGAUGE_STORE": str(folder / "store.sqlite"), "NO_COLOR": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for key in KEYS:
            patch.delenv(key, raising=False)
        return run_command(*words, cwd=folder, **{**own, **environment})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["system,input,output,source,coherence"]
    lines += [f"s{i % 4},i{i // 4},output {i},article {i // 4},{1 + i % 5}" for i in range(120)]
    (tmp_path / "outputs.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def words(server: Any, *more: str) -> list[str]:
    base = server if isinstance(server, str) else server.base_url
    return ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--base-url", base, *more]


@pytest.mark.parametrize(
    ("fault", "cause", "most"),
    [
        ("500", "HTTP 500", 16 * 3),
        ("429", "Rate limit reached", 16 * 3),
        ("html", "please log in", 16 * 3),
        ("drop", "Error", 16 * 3),
        ("quota", "exceeded your current quota", 16),
        ("later", "to wait 7,200 s", 16),
        ("402", "Insufficient balance", 16),
        ("400", "does not chat", 40),
    ],
)
def test_an_endpoint_that_gives_nothing_ends_the_run_early_with_the_cause(
    serve: Serve, folder: Path, fault: str, cause: str, most: int
) -> None:
    server = serve(faults={fault: 1.0}, most=10**6)
    began = time.monotonic()
    ran = nlgauge(folder, *words(server, "--attempts", "3", "-o", "judged.jsonl"))
    assert ran.returncode == 2, ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert cause in last
    assert "the same command resumes the run: nlgauge judge outputs.csv --aspect coherence" in last
    assert "written" not in ran.stderr
    assert not (folder / "judged.jsonl").exists()
    assert server.log()["stats"]["requests"] <= most
    assert time.monotonic() - began < 30


def test_a_dead_endpoint_ends_the_run_within_seconds_whatever_the_number_of_attempts(folder: Path) -> None:
    began = time.monotonic()
    ran = nlgauge(folder, *words("http://127.0.0.1:9/v1"))
    assert ran.returncode == 2
    assert "ConnectError" in ran.stderr.splitlines()[-1]
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("fault", ["500", "quota", "402", "html", "drop"])
def test_what_came_before_the_endpoint_failed_is_written_and_the_same_command_asks_only_for_the_rest(
    serve: Serve, folder: Path, fault: str
) -> None:
    server = serve(faults={fault: 1.0}, after=60)
    command = words(server, "--attempts", "2", "--concurrency", "4", "-o", "judged.jsonl")
    ran = nlgauge(folder, *command)
    assert ran.returncode == 3, ran.stderr
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("nlgauge: partly done: ")
    assert "60 of 120 outputs are scored and written to judged.jsonl. The same command goes on" in last
    asked = server.log()["stats"]["requests"]
    assert asked < 100
    server.set(faults={}, after=None)
    again = nlgauge(folder, *command)
    assert again.returncode == 0, again.stderr
    assert server.log()["stats"]["requests"] == asked + 60
    lines = [json.loads(line) for line in (folder / "judged.jsonl").read_text().splitlines()[1:]]
    assert sum("m-coherence" in line["scores"] for line in lines) == 120


def test_a_used_up_budget_is_part_of_the_work_and_goes_on(serve: Serve, folder: Path) -> None:
    server = serve()
    (folder / "prices.json").write_text('{"m": {"input": 1, "output": 1}}')
    command = words(server, "--prices", "prices.json", "--max-cost", "0.012", "-o", "judged.jsonl")
    ran = nlgauge(folder, *command)
    assert ran.returncode == 3, ran.stderr
    assert "--max-cost" in ran.stderr.splitlines()[-1]
    first = server.log()["stats"]["requests"]
    assert 0 < first < 120
    nlgauge(folder, *command)
    seen = server.log()["seen"]
    assert set(seen.values()) == {1}
    assert len(seen) > first
    none = nlgauge(folder, *words(server, "--prices", "prices.json", "--max-cost", "0", "--scale", "1-7"))
    assert none.returncode == 2


def test_one_request_that_always_fails_costs_only_itself(serve: Serve, folder: Path) -> None:
    server = serve(faults={"500": 0.03}, most=10**6)
    ran = nlgauge(folder, *words(server, "--attempts", "1", "-o", "judged.jsonl"))
    assert ran.returncode == 3, ran.stderr
    assert "requests got no reply" in ran.stderr.splitlines()[-1]
    assert (folder / "judged.jsonl").exists()


def test_replies_that_cannot_be_read_are_shown_read_again_and_asked_for_singly(serve: Serve, folder: Path) -> None:
    server = serve(says="It is neat. MARK<4>")
    none = nlgauge(folder, *words(server, "-o", "judged.jsonl"))
    assert none.returncode == 2
    assert "120 of 120 replies could not be parsed" in none.stderr
    assert "'It is neat. MARK<4>'" in none.stderr
    assert "--reparse" in none.stderr
    assert not (folder / "judged.jsonl").exists()
    assert server.log()["stats"]["requests"] == 120

    server.stop()  # reading again asks nothing
    other = nlgauge(folder, *words(server, "--reparse", "--scale", "1-9"))
    assert other.returncode == 2
    assert "Without --reparse the missing replies are asked for." in other.stderr
    read = nlgauge(folder, *words(server, "--reparse", "--pattern", r"MARK<(\d)>", "-o", "judged.jsonl"))
    assert read.returncode == 0, read.stderr
    scores = [json.loads(x)["scores"] for x in (folder / "judged.jsonl").read_text().splitlines()[1:]]
    assert {s["m-coherence"] for s in scores} == {4.0}


def test_asking_again_asks_only_for_what_could_not_be_read(serve: Serve, folder: Path) -> None:
    server = serve(says="Rating: 4")
    (folder / "all.csv").write_text((folder / "outputs.csv").read_text())
    (folder / "outputs.csv").write_text("\n".join((folder / "all.csv").read_text().splitlines()[:91]) + "\n")
    assert nlgauge(folder, *words(server)).returncode == 0
    server.set(says="I would rather not.")
    command = [w if w != "outputs.csv" else "all.csv" for w in words(server, "-o", "judged.jsonl")]
    some = nlgauge(folder, *command)
    assert some.returncode == 0
    assert "30 of 120 replies could not be parsed" in some.stderr
    server.set(says="Rating: 2")
    anew = nlgauge(folder, *command, "--reask")
    assert anew.returncode == 0, anew.stderr
    assert "could not be read" not in anew.stderr
    assert server.log()["stats"]["requests"] == 150
    lines = [json.loads(x) for x in (folder / "judged.jsonl").read_text().splitlines()[1:]]
    values = [x["scores"]["m-coherence"] for x in lines]
    assert sorted(values) == [2.0] * 30 + [4.0] * 90
    assert nlgauge(folder, *command).returncode == 0
    assert server.log()["stats"]["requests"] == 150


def test_a_judge_among_metrics_that_is_cut_short_is_no_result(serve: Serve, folder: Path) -> None:
    server = serve(faults={"402": 1.0}, after=60)
    spec = f"len,judge(aspect='coherence', model='m', base_url='{server.base_url}')"
    ran = nlgauge(folder, "score", "outputs.csv", "-m", spec, "-o", "scored.jsonl")
    assert ran.returncode == 3, ran.stderr
    assert not (folder / "scored.jsonl").exists()
    server.set(faults={}, after=None)
    assert nlgauge(folder, "score", "outputs.csv", "-m", spec, "-o", "scored.jsonl").returncode == 0
    assert "127.0.0.1" not in (folder / "scored.jsonl").read_text()


def test_a_store_with_only_replies_is_shown(serve: Serve, folder: Path) -> None:
    assert nlgauge(folder, *words(serve())).returncode == 0
    info = nlgauge(folder, "cache", "info")
    assert info.returncode == 0, info.stderr
    assert "120" in info.stdout
