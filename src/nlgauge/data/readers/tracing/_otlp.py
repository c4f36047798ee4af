"""Log records and spans of OpenTelemetry: OTLP JSON, one document or one per line, and the lines of the SDK."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.readers.logs._rows import below, dig, read_rows

RESOURCES = {"resourceLogs": ("scopeLogs", "logRecords"), "resourceSpans": ("scopeSpans", "spans")}
SNAKE = {"traceId": "trace_id", "spanId": "span_id", "eventName": "event_name"}


def read_items(path: Path, encoding: str | None) -> Iterator[dict[str, Any]]:
    """Yield log records and spans with plain attributes, from OTLP JSON or as the SDK writes them."""
    for record in read_rows(path, encoding):
        documents = [key for key in RESOURCES if key in record.values]
        for key in documents:
            scopes, leaves = RESOURCES[key]
            for resource in record.children(key):
                for scope in resource.children(scopes):
                    for leaf in scope.children(leaves):
                        values = {SNAKE.get(k, k): v for k, v in leaf.values.items()}
                        more = {"events": values.get("events") or []} if leaves == "spans" else {}
                        yield {**values, **more, "attributes": attributes_of(values)}
        if not documents:
            values = {SNAKE.get(k, k): v for k, v in record.values.items()}
            context = {k: dig(values, f"context.{k}") for k in ("trace_id", "span_id") if k not in values}
            yield {**values, **context, "attributes": attributes_of(values)}


def attributes_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as one flat object: OTLP writes them as a list of keys and typed values."""
    given = values.get("attributes")
    if isinstance(given, list):
        return {str(a.get("key")): _plain(a.get("value")) for a in given if isinstance(a, dict)}
    return dict(_flat(given if isinstance(given, dict) else below(values, "attributes")))


def _flat(values: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{start}{key}.")
        else:
            yield f"{start}{key}", value


def _plain(value: Any) -> Any:
    """Return the value of {"doubleValue": 0.5}; OTLP JSON writes whole numbers as texts."""
    kind, inner = next(iter(value.items()), ("", None)) if isinstance(value, dict) else ("", value)
    if kind == "intValue":
        return int(str(inner)) if re.fullmatch(r"-?\d{1,18}", str(inner)) else inner
    if kind == "arrayValue" and isinstance(inner, dict):
        return [_plain(each) for each in inner.get("values") or []]
    return inner
