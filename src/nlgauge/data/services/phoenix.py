"""Phoenix over its REST API: the annotated spans of a project, with their annotations.

`PHOENIX_COLLECTOR_ENDPOINT` is the server, `PHOENIX_API_KEY` the key, as for Phoenix' own client.
"""

from __future__ import annotations

import json
import os
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlgauge.data.services._http import Server
from nlgauge.errors import DataError

PAGE, IDS = 500, 50  # spans of a page, ids in one address


def fetch(project: str, path: Path) -> Path:
    """Write the spans of a project and their annotations as one page."""
    key = os.environ.get("PHOENIX_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    server = Server.of("phoenix", ("PHOENIX_COLLECTOR_ENDPOINT",), headers)
    base = f"/v1/projects/{urllib.parse.quote(project, safe='')}"
    spans = {str(span["context"]["span_id"]): span for span in _pages(server, f"{base}/spans", limit=PAGE)}
    ids = list(spans)
    annotations: list[dict[str, Any]] = []
    for start in range(0, len(ids), IDS):
        chosen = ids[start : start + IDS]
        annotations += _pages(server, f"{base}/span_annotations", span_ids=chosen, limit=PAGE)
    if not annotations:
        raise DataError(f"phoenix://{project}: none of its {len(spans)} spans has an annotation.")
    told = {str(annotation.get("span_id")) for annotation in annotations}
    page = {"spans": [span for name, span in spans.items() if name in told], "annotations": annotations}
    out = path.with_suffix(".json")
    out.write_text(json.dumps(page, ensure_ascii=False), encoding="utf-8")
    return out


def _pages(server: Server, path: str, **params: Any) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = server.get(path, **params, cursor=cursor)
        yield from page.get("data") or []
        cursor = page.get("next_cursor")
        if not cursor:
            return
