"""A real headless Chromium (Debian's package) that notes every request and every console error."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit
from report_made import report_of, two_aspects, verdicts

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole report on two aspects, as `nlgauge run --quick` writes it."""
    return report_of(two_aspects(), tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def judge_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on one judge with reasons, next to an earlier run of it."""
    return report_of(verdicts(), tmp_path_factory.mktemp("judge") / "judge.html", against=verdicts(flip=0.2))


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    context = chromium.new_context()
    visit = Visit(context.new_page())
    visit.page.on("request", lambda r: visit.requests.append(r.url))
    visit.page.on("console", lambda m: visit.errors.append(m.text) if m.type == "error" else None)
    visit.page.on("pageerror", lambda e: visit.errors.append(str(e)))
    yield visit
    context.close()
