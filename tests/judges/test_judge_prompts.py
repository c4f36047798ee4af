"""`nlgauge judge --prompts`: several prompts on the tuning part only, and the best with an honest interval."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_judge_verb import nlgauge

import nlgauge as ng

Serve = Callable[..., Any]
TASK = "task: answers of a shop\noutput: Answer\naspects: {helpful: whether it helps}\nscale: 1-5\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["id,answer,human", *(f"r{k},text {k:04},{1 + k % 5}" for k in range(80))]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "prompts").mkdir()
    for name in ("short", "strict", "kind"):
        (tmp_path / f"prompts/{name}.txt").write_text(f"Be {name}. {{example}}\nRating: ")
    return tmp_path


def judged(folder: Path, server: Any, file: str, *words: str) -> Any:
    asked = ["judge", file, "-j", "task.yaml", "--model", "m", "--base-url", server.base_url, *words]
    return nlgauge(folder, *asked)


def test_prompts_are_tried_on_the_tuning_part_only(serve: Serve, folder: Path) -> None:
    server = serve()
    tune, test = ng.load(folder / "answers.csv").split()
    done = judged(folder, server, "answers.csv", "--prompts", "prompts", "-o", "tried.jsonl")
    assert done.returncode == 0, done.stderr
    assert f"{len(test)} are held out for the test and not shown to the model" in " ".join(done.stderr.split())
    assert "is the best of 3 judges (global/pairwise-accuracy " in done.stdout
    assert "Selection-adjusted interval: " in done.stdout
    assert server.log()["stats"]["requests"] == 3 * len(tune)
    tried = ng.load(folder / "tried.jsonl")
    assert set(tried.inputs) == set(tune.inputs) and set(tried.metrics) == {"short", "strict", "kind"}


def test_a_parted_file_is_tried_as_a_whole_and_its_test_part_refused(serve: Serve, folder: Path) -> None:
    server = serve()
    tune, _ = ng.load(folder / "answers.csv").split(out=folder / "answers.jsonl")
    done = judged(folder, server, "answers.tune.jsonl", "--prompts", "prompts", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert [t["analysis"] for t in json.loads(done.stdout)["tables"]] == ["judged", "best-of"]
    assert server.log()["stats"]["requests"] == 3 * len(tune)
    refused = judged(folder, server, "answers.test.jsonl", "--prompts", "prompts")
    assert (
        refused.returncode == 2
        and "is a test part" in refused.stderr
        and "tune prompts on the tuning part" in refused.stderr
    )
    assert server.log()["stats"]["requests"] == 3 * len(tune)


def test_one_prompt_alone_judges_as_it_did_among_the_others(serve: Serve, folder: Path) -> None:
    server = serve()
    judged(folder, server, "answers.csv", "--prompts", "prompts", "-o", "tried.jsonl")
    asked = server.log()["stats"]["requests"]
    done = judged(
        folder,
        server,
        "answers.csv",
        "--prompt",
        "prompts/kind.txt",
        "--name",
        "kind",
        "-o",
        "kind.jsonl",
        "-f",
        "json",
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["tables"][0]["rows"]
    assert row["judge"] == "kind" and row["scored"] == 80
    alone = {r["input"]: r["kind"] for r in ng.load(folder / "kind.jsonl").scores.iter_rows(named=True)}
    among = {r["input"]: r["kind"] for r in ng.load(folder / "tried.jsonl").scores.iter_rows(named=True)}
    assert {k: alone[k] for k in among} == among
    assert server.log()["stats"]["requests"] == asked + 80 - len(among)  # what is known is not asked again


def test_what_cannot_be_tried_is_said_in_one_line(serve: Serve, folder: Path) -> None:
    server = serve()
    (folder / "one").mkdir()
    (folder / "one/a.txt").write_text("{example}")
    done = judged(folder, server, "answers.csv", "--prompts", "one")
    assert done.returncode == 2 and "needs two templates" in done.stderr
    (folder / "prompts/bad.txt").write_text("no hole")
    done = judged(folder, server, "answers.csv", "--prompts", "prompts")
    assert done.returncode == 2 and "is not a template" in done.stderr and "Traceback" not in done.stderr
