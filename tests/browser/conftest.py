"""A real headless Chromium (Debian's package) that notes every request and every console error."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass
class Visit:
    """An open page with what went over the wire and what the console complained of."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, path: Path, width: int = 1440, height: int = 900) -> Any:
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.goto(path.resolve().as_uri(), wait_until="load")
        return self.page


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


@pytest.fixture
def visit(chromium: Any) -> Iterator[Visit]:
    context = chromium.new_context()
    visit = Visit(context.new_page())
    visit.page.on("request", lambda r: visit.requests.append(r.url))
    visit.page.on("console", lambda m: visit.errors.append(m.text) if m.type == "error" else None)
    visit.page.on("pageerror", lambda e: visit.errors.append(str(e)))
    yield visit
    context.close()
