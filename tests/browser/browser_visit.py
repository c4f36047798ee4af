"""What a test sees of a page: the page itself, its requests and its errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
