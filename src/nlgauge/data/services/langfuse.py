"""Langfuse over its public API: the scores of a project, and the traces that they are about.

`LANGFUSE_BASE_URL` (or `LANGFUSE_HOST`) is the server, `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` are the key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlgauge.data.services._http import Server, basic
from nlgauge.errors import DataError

PAGE = 100
KEYS = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")


def fetch(project: str, path: Path) -> Path:
    """Write scores and traces as one page; the key, not the name, says which project it is."""
    missing = [name for name in KEYS if not os.environ.get(name)]
    if missing:
        raise DataError(f"langfuse://: set {' and '.join(missing)}.")
    headers = basic(os.environ[KEYS[0]], os.environ[KEYS[1]])
    server = Server.of("langfuse", ("LANGFUSE_BASE_URL", "LANGFUSE_HOST"), headers)
    scores = list(_pages(server, "/api/public/v2/scores"))
    if not scores:
        raise DataError("langfuse://: the project has no scores.")
    wanted = {score.get("traceId") for score in scores}
    traces = [trace for trace in _pages(server, "/api/public/traces") if trace.get("id") in wanted]
    out = path.with_suffix(".json")
    out.write_text(json.dumps({"data": scores, "traces": traces}, ensure_ascii=False), encoding="utf-8")
    return out


def _pages(server: Server, path: str) -> Iterator[dict[str, Any]]:
    number = 1
    while True:
        page = server.get(path, page=number, limit=PAGE)
        yield from page.get("data") or []
        if number >= int((page.get("meta") or {}).get("totalPages") or 0):
            return
        number += 1
