"""A judge's task from a stranger: it sends no file of yours away, asks nobody you did not name, and gets no key."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_judge_endings import KEYS, NLGAUGE, nlgauge

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.secret import find_key, origin
from nlgauge.metrics.judge.task import load_task

Serve = Callable[..., Any]
TASK = "task: jokes\naspects: {funny: Whether one laughs.}\nmode: rating\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "handed").mkdir()
    rows = "".join(f"s{i % 2},i{i // 2},output {i},{i % 5}\n" for i in range(8))
    (tmp_path / "outputs.csv").write_text("system,input,output,quality\n" + rows)
    (tmp_path / "private.txt").write_text("my diary, with {example} in it")
    return tmp_path


def handed(folder: Path, more: str) -> Path:
    task = folder / "handed" / "task.yaml"
    task.write_text(TASK + more)
    return task


def link(folder: Path) -> str:
    (folder / "handed" / "link.txt").symlink_to(folder / "private.txt")
    return "link.txt"


def linked_folder(folder: Path) -> str:
    (folder / "handed" / "sub").symlink_to(folder)
    return "sub/private.txt"


@pytest.mark.parametrize(
    "prompt",
    [
        lambda f: str(f / "private.txt"),
        lambda f: "../private.txt",
        lambda f: "x/../../private.txt",
        link,
        linked_folder,
        lambda f: "~/private.txt",
        lambda f: "file:///etc/passwd",
        lambda f: "..\\private.txt",
        lambda f: "/dev/stdin",
        lambda f: ".",
    ],
)
def test_a_prompt_is_read_from_the_tasks_own_folder_only(
    serve: Serve, folder: Path, prompt: Callable[[Path], str]
) -> None:
    server = serve()
    task = handed(folder, f"prompt: '{prompt(folder)}'\n")
    with pytest.raises(DataError, match=r"prompt|cannot be read"):
        load_task(str(task))
    words = ["judge", "outputs.csv", "-j", str(task), "--model", "m", "--base-url", server.base_url]
    ran = nlgauge(folder, *words)
    assert ran.returncode == 2
    assert "requests" not in server.log()["stats"]


@pytest.mark.parametrize("text", ["-----BEGIN KEY-----\nabc", "", "Judge {output} by {aspect}."])
def test_a_file_that_is_no_template_is_no_prompt(folder: Path, text: str) -> None:
    (folder / "handed" / "p.txt").write_text(text)
    with pytest.raises(DataError, match=r"not a template: it must contain \{example\}"):
        load_task(str(handed(folder, "prompt: p.txt\n")))


def test_a_prompt_beside_the_task_is_used(folder: Path) -> None:
    (folder / "handed" / "p.txt").write_text("Rate this: {example}")
    assert load_task(str(handed(folder, "prompt: p.txt\n"))).prompt("rating") == "Rate this: {example}"


def test_an_endpoint_that_only_a_file_names_gets_nothing(serve: Serve, folder: Path) -> None:
    thief = serve()
    task = handed(folder, f"base_url: {thief.base_url}\nmodel: m\n")
    key = {"NLGAUGE_API_KEY": "sk-mine", "OPENAI_API_KEY": "sk-other"}
    ways = [
        ["judge", "outputs.csv", "-j", str(task)],
        ["judge", "outputs.csv", "-j", str(task), "--allow-endpoint", "https://api.openai.com/v1"],
        ["score", "outputs.csv", "-m", f"judge(task='{task}', aspect='funny')"],
    ]
    for words in ways:
        ran = nlgauge(folder, *words, **key)
        assert ran.returncode == 2, ran.stderr
        assert "endpoint" in ran.stderr.splitlines()[-1]
    with pytest.raises(NlgaugeError, match="names the endpoint"):
        from nlgauge.metrics import Batch

        Judge(task=str(task), aspect="funny").score(Batch.from_columns(["x"]))
    assert "requests" not in thief.log()["stats"]
    ran = nlgauge(folder, "judge", "outputs.csv", "-j", str(task), NLGAUGE_BASE_URL="http://127.0.0.1:9/v1", **key)
    assert ran.returncode == 2  # the user's own endpoint is not replaced by the file's, nor silently the other way
    assert "requests" not in thief.log()["stats"]


def test_an_allowed_endpoint_is_asked_and_gets_only_its_own_key(serve: Serve, folder: Path) -> None:
    server = serve()
    task = handed(folder, f"base_url: {server.base_url}/\nmodel: m\n")
    words = ["judge", "outputs.csv", "-j", str(task), "--allow-endpoint", server.base_url]
    ran = nlgauge(folder, *words, OPENAI_API_KEY="sk-openai")
    assert ran.returncode == 0, ran.stderr
    assert "OPENAI_API_KEY belongs to https://api.openai.com:443 and is not sent to" in ran.stderr
    assert server.log()["keys"] == {"": 8}
    (folder / "key").write_text("sk-of-this-one\n")
    ran = nlgauge(folder, *words, "--scale", "1-7", "--key-file", "key", OPENAI_API_KEY="sk-openai")
    assert ran.returncode == 0, ran.stderr
    assert server.log()["keys"] == {"": 8, "Bearer sk-of-this-one": 8}


def test_the_key_goes_to_the_endpoint_it_was_set_for_and_to_no_other(serve: Serve, folder: Path) -> None:
    mine, other = serve(), serve()
    words = ["judge", "outputs.csv", "-j", str(handed(folder, "")), "--model", "m"]
    environment = {"NLGAUGE_API_KEY": "sk-mine", "NLGAUGE_BASE_URL": mine.base_url}
    assert nlgauge(folder, *words, **environment).returncode == 0
    assert nlgauge(folder, *words, "--base-url", other.base_url, **environment).returncode == 0
    assert mine.log()["keys"] == {"Bearer sk-mine": 8}
    assert other.log()["keys"] == {"": 8}


def test_a_redirect_is_not_followed_and_carries_nothing(serve: Serve, folder: Path) -> None:
    thief = serve()
    server = serve(faults={"redirect": 1.0}, most=10**6, to=thief.base_url)
    words = ["judge", "outputs.csv", "-j", str(handed(folder, "")), "--model", "m", "--base-url", server.base_url]
    ran = nlgauge(folder, *words, NLGAUGE_API_KEY="sk-mine")
    assert ran.returncode == 2
    assert "not followed" in ran.stderr.splitlines()[-1]
    assert thief.log()["keys"] == {}


@pytest.mark.parametrize(("said", "code", "asked"), [("y", 0, 8), ("n", 2, 0)])
def test_on_a_terminal_the_user_is_asked(serve: Serve, folder: Path, said: str, code: int, asked: int) -> None:
    server = serve()
    task = handed(folder, f"base_url: {server.base_url}\nmodel: m\n")
    env = {k: v for k, v in os.environ.items() if k not in KEYS}
    env |= {"NLGAUGE_STORE": str(folder / "store.sqlite"), "TERM": "dumb"}
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [*NLGAUGE, "judge", "outputs.csv", "-j", str(task)],
        cwd=folder,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen, answered, until = b"", False, time.monotonic() + 120
    while time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                seen += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        if b"[y/N]" in seen and not answered:
            os.write(ours, f"{said}\n".encode())
            answered = True
    assert run.wait(30) == code, seen
    os.close(ours)
    assert answered
    assert server.log()["stats"].get("requests", 0) == asked


@pytest.mark.parametrize(
    "url", ["ftp://h/v1", "h", "http://", "https://me:pw@h/v1", "https://h/v1?key=x", "http://[", "http://h:99999/v1"]
)
def test_an_endpoint_that_is_none_or_holds_a_password_is_refused(url: str) -> None:
    with pytest.raises(NlgaugeError, match="base URL") as error:
        Judge(aspect="coherence", model="m", base_url=url)
    assert "pw" not in str(error.value)


def test_a_key_has_one_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    assert not find_key("http://localhost/v1").withheld
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    assert find_key("https://api.openai.com/v1").source == "OPENAI_API_KEY"
    assert find_key("https://api.openai.com.evil.example/v1").withheld
    assert find_key("http://api.openai.com/v1").withheld  # not in the clear
    monkeypatch.setenv("NLGAUGE_API_KEY", "sk-n")
    assert find_key("http://localhost:1/v1").source == "NLGAUGE_API_KEY"
    assert origin("HTTPS://A.example") == "https://a.example:443"
