"""OpenAI batch files: requests are written as JSONL, results are read into the cache that single requests use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nlgauge.data.files import check_regular
from nlgauge.errors import DataError
from nlgauge.metrics.judge.completion import AnswerRefused, decode_json, read_reply, storable
from nlgauge.metrics.judge.replies import Keeper, Reply, Request, request_code
from nlgauge.writing import whole

PART = 500


def write_batch(requests: Iterable[Request], keeper: Keeper, path: str | Path) -> int:
    """Write the requests without a stored reply, one per line, and return how many there are."""
    path = Path(path)
    distinct = {r.key: r for r in requests}
    available = keeper.known(distinct)
    todo = {key: r for key, r in distinct.items() if key not in available}
    secret = keeper.secret()
    with whole(path) as part, part.open("w", encoding="utf-8") as file:
        for key, request in todo.items():
            body = request.coded_body(request_code(request, secret))
            line = {"custom_id": key.hex(), "method": "POST", "url": "/v1/chat/completions", "body": body}
            file.write(storable(json.dumps(line, ensure_ascii=False)) + "\n")
    return len(todo)


@dataclass
class BatchRead:
    """Numbers of results of a batch file that were stored, failed, or belong to other runs, and the last failure's
    reason.
    """

    kept: int = 0
    failed: int = 0
    foreign: int = 0
    reason: str = ""


def read_batch(path: str | Path, requests: Iterable[Request], keeper: Keeper) -> BatchRead:
    """Store the results that belong to these requests; failed lines and lines of other runs are counted."""
    path = Path(path)
    check_regular(path)
    own = {r.key: r for r in requests}
    read, part, secret = BatchRead(), dict[bytes, Reply](), keeper.secret()
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    result = decode_json(line)
                    key = bytes.fromhex(result["custom_id"])
                    answer = result.get("response") or {}
                    if not isinstance(answer, dict):
                        raise TypeError
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    raise DataError(f"{path}, line {number}: not a line of a batch output file.") from None
                if key not in own:
                    read.foreign += 1
                    continue
                try:
                    if answer.get("status_code") != 200:
                        raise ValueError(str(result.get("error") or answer.get("status_code")))
                    part[key] = read_reply(answer.get("body"), code=request_code(own[key], secret))
                except (ValueError, AnswerRefused) as error:
                    read.failed += 1
                    read.reason = str(error)
                if len(part) == PART:
                    read.kept += _keep(keeper, part, own)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}).") from None
    read.kept += _keep(keeper, part, own)
    return read


def _keep(keeper: Keeper, part: dict[bytes, Reply], mine: dict[bytes, Request]) -> int:
    keeper.keep(part, {key: mine[key] for key in part})
    count = len(part)
    part.clear()
    return count
