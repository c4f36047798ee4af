"""`nlgauge judge` and `nlgauge cache`, as a user types them; and a run that is killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from command import run_command

Serve = Callable[..., Any]
NLGAUGE = [sys.executable, "-c", "from nlgauge.cli import main; main()"]


def rows(n: int) -> str:
    lines = ["system,input,output,source,coherence"]
    lines += [f"s{i % 4},i{i // 4},output {i},article {i // 4},{1 + i % 5}" for i in range(n)]
    return "\n".join(lines) + "\n"


def nlgauge(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"NLGAUGE_STORE": str(folder / "store.sqlite"), "NO_COLOR": "1"}
    return run_command(*words, cwd=folder, **{**own, **environment})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outputs.csv").write_text(rows(40))
    return tmp_path


def test_a_user_judges_plans_and_looks_at_the_store(serve: Serve, folder: Path) -> None:
    server = serve()
    words = ["judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--base-url", server.base_url]
    (folder / "prices.json").write_text('{"m": {"input": 1, "output": 2}}')
    planned = nlgauge(folder, *words, "--dry-run", "--prices", "prices.json")
    assert planned.returncode == 0, planned.stderr
    assert "40 requests, of which 0" in planned.stdout
    assert "cost: at most 0." in planned.stdout
    assert "requests" not in server.log()["stats"]
    ran = nlgauge(folder, *words, "--draws", "2", "--keep-draws", "--format", "json", "-o", "judged.jsonl")
    assert ran.returncode == 0, ran.stderr
    (row,) = json.loads(ran.stdout)["tables"][0]["rows"]
    assert (row["scored"], row["unscored"], row["replies"]) == (40, 0, 80)
    assert "model:m" in row["signature"]
    report = nlgauge(folder, "analyze", "correlate", "judged.jsonl", "--measures", "global/pearson", "--format", "json")
    metrics = {r["metric"] for r in json.loads(report.stdout)["tables"][0]["rows"]}
    assert len(metrics) == 3  # the mean and the two draws
    info = nlgauge(folder, "cache", "info", "--format", "json")
    assert json.loads(info.stdout)["tables"][1]["rows"][0]["replies"] == 80
    assert nlgauge(folder, "cache", "export", "replies.jsonl").returncode == 0
    assert len((folder / "replies.jsonl").read_text().splitlines()) == 80
    assert "80 replies forgotten" in nlgauge(folder, "cache", "prune", "--model", "m").stdout


def test_with_labels_of_people_a_judge_ends_with_how_far_it_can_be_relied_on(serve: Serve, folder: Path) -> None:
    (folder / "one.csv").write_text("id,output,source\n" + "".join(f"q{i},output {i},article {i}\n" for i in range(60)))
    (folder / "labels.csv").write_text(
        "id,label\n" + "".join(f"q{i},{('pass', 'fail')[i % 3 == 0]}\n" for i in range(5, 50))
    )
    words = ["judge", "one.csv", "--labels", "labels.csv", "--aspect", "coherence", "--model", "m", "--name", "house"]
    ran = nlgauge(folder, *words, "-o", "judged.jsonl", NLGAUGE_BASE_URL=serve().base_url)
    assert ran.returncode == 0, ran.stderr
    text = " ".join(ran.stdout.split())
    assert re.search(r"label: house: area under the ROC curve \d\.\d\d \[\d\.\d\d, \d\.\d\d\]", text), text
    assert "On held-out labels, no threshold costs less than one verdict for all outputs." in text
    assert "45 rows joined by 'id'" in " ".join(ran.stderr.split())
    shown = nlgauge(folder, *words, "--format", "json", NLGAUGE_BASE_URL=serve().base_url)
    assert json.loads(shown.stdout)["tables"]


def test_pairwise_choices_are_written_with_the_order_in_which_they_were_shown(serve: Serve, folder: Path) -> None:
    words = [
        "judge",
        "outputs.csv",
        "--aspect",
        "coherence",
        "--model",
        "m",
        "--mode",
        "pairwise",
        "-o",
        "judged.jsonl",
    ]
    ran = nlgauge(folder, *words, NLGAUGE_BASE_URL=serve().base_url)
    assert ran.returncode == 0, ran.stderr
    import nlgauge as ng

    data = ng.load(folder / "judged.jsonl")
    assert len(data.comparisons) == 10 * 4 * 3
    assert set(data.comparisons["preferred"]) <= {"first", "second", "tie"}


def test_a_judge_that_compared_outputs_is_not_called_people(serve: Serve, folder: Path) -> None:
    lines = (folder / "outputs.csv").read_text().splitlines()
    (folder / "bare.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    words = ["--aspect", "coherence", "--model", "m", "--mode", "pairwise"]
    base = {"NLGAUGE_BASE_URL": serve().base_url}
    for name in ("outputs", "bare"):
        assert nlgauge(folder, "judge", f"{name}.csv", *words, "-o", f"{name}.jsonl", **base).returncode == 0
    rated = nlgauge(folder, "run", "outputs.jsonl", "--quick")
    assert rated.returncode == 0, rated.stderr
    assert (
        "pairwise comparisons by the model m-coherence: 120" in rated.stderr
        and "comparisons by humans" not in rated.stderr
    )
    results = json.loads((folder / "outputs.report.results.json").read_text())
    sides = {row["side"] for t in results["tables"] if t["analysis"] == "wins" for row in t["rows"]}
    assert len(sides) == 2 and "Human" in sides
    alone = nlgauge(folder, "run", "bare.jsonl")
    assert alone.returncode == 0, alone.stderr
    text = " ".join((alone.stdout + alone.stderr).split())
    for words in ("no human votes", "agreement with humans is unknown", "if m-coherence is human: --columns"):
        assert words in text
        text = text.replace(words, "")
    assert "human" not in text.lower() and "human" not in text.lower()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--aspect", "coherence"], "no model"),
        (["--aspect", "coherence", "--model", "m"], "no endpoint"),
        (["-j", "nope"], "no judge 'nope'"),
        (["--aspect", "wit"], "no aspect 'wit'"),
        (["-j", "dialogue"], "needs contexts|need contexts"),
        (["--scale", "9-1", "--aspect", "fluency"], "scale '9-1'"),
        (["--prices", "gone.json"], "gone.json"),
        (["--aspect", "fluency", "--model", "m", "--base-url", "http://x/v1", "--key-file", "gone"], "gone"),
    ],
)
def test_what_is_missing_is_one_line_and_exit_code_2(folder: Path, words: list[str], says: str) -> None:
    ran = nlgauge(folder, "judge", "outputs.csv", *words, OPENAI_BASE_URL="", NLGAUGE_BASE_URL="", NLGAUGE_MODEL="")
    assert ran.returncode == 2, ran.stdout
    import re

    assert re.search(says, ran.stderr.splitlines()[-1]), ran.stderr
    assert "Traceback" not in ran.stderr


def marks_in(store: Path) -> set[str]:
    """Of the prompts whose replies are committed: the mark under which the server counts them."""
    with sqlite3.connect(store) as db:
        bodies = [json.loads(zlib.decompress(row[0])) for row in db.execute("SELECT request FROM replies")]
    return {blake2b(b["messages"][-1]["content"].encode(), digest_size=8).hexdigest() for b in bodies}


def kill_and_resume(serve: Serve, folder: Path, kills: int, seed: int) -> None:
    server, rng = serve(latency=0.01), random.Random(seed)
    env = {**os.environ, "NLGAUGE_STORE": str(folder / "store.sqlite"), "NLGAUGE_BASE_URL": server.base_url}
    words = [*NLGAUGE, "judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "-o", "judged.jsonl"]
    for _ in range(kills):
        before = server.log()["stats"].get("requests", 0)
        run = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while server.log()["stats"].get("requests", 0) == before and run.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.3)
        run.send_signal(signal.SIGKILL)
        run.wait()
        time.sleep(0.05)  # what was on the wire arrives
        committed = marks_in(folder / "store.sqlite")
        seen = {m: n for m, n in server.log()["seen"].items() if m in committed}
        last = subprocess.run(words, cwd=folder, env=env, capture_output=True, check=False) if _ == kills - 1 else None
        if last is not None:
            assert last.returncode == 0, last.stderr
            after = server.log()["seen"]
            assert {m: after[m] for m in seen} == seen


def test_a_killed_run_resumes_and_asks_nothing_twice_that_was_kept(serve: Serve, folder: Path, tmp_path: Path) -> None:
    (folder / "outputs.csv").write_text(rows(400))
    kill_and_resume(serve, folder, kills=1, seed=1)
    disturbed = (folder / "judged.jsonl").read_text()
    calm = nlgauge(
        folder,
        "judge",
        "outputs.csv",
        "--aspect",
        "coherence",
        "--model",
        "m",
        "-o",
        "calm.jsonl",
        NLGAUGE_BASE_URL=serve().base_url,
        NLGAUGE_STORE=str(folder / "calm.sqlite"),
    )
    assert calm.returncode == 0, calm.stderr
    # All but the header, which has the signature of the endpoint.
    assert disturbed.splitlines()[1:] == (folder / "calm.jsonl").read_text().splitlines()[1:]
