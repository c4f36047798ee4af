"""A running judge server for a test, as another process on loopback."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


class Served:
    """A server and its log."""

    def __init__(self, **settings: Any) -> None:
        script = Path(__file__).with_name("judge_server.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), json.dumps(settings)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def log(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/log") as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def set(self, **settings: Any) -> None:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/set", json.dumps(settings).encode(), method="POST"
        )
        urllib.request.urlopen(asked).close()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def start(**settings: Any) -> Served:
        running.append(Served(**settings))
        return running[-1]

    yield start
    for each in running:
        each.stop()
