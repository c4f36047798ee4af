"""Replies of judges in the durable store: the same SQLite file as the scores, one row a request.

A reply is paid for, so each write is on the disk before it counts (synchronous = FULL); several processes may write.
"""

from __future__ import annotations

import json
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.metrics.judge.completion import storable
from nlgauge.metrics.judge.replies import Keeper, Reply, Request
from nlgauge.scoring.store import MAX_QUERY_KEYS, SUMMED_REPLY, Store, checksum
from nlgauge.scoring.work_claims import Claims
from nlgauge.writing import whole

# The secret from which the codes of requests are derived. It is created once per cache and never exported.
SECRET = "CREATE TABLE IF NOT EXISTS reply_secret (id INTEGER PRIMARY KEY CHECK (id = 1), value BLOB NOT NULL)"
COLUMNS = f"{SUMMED_REPLY}, checksum"
FACTS = ("model", "fingerprint", "finish", "prompt_tokens", "completion_tokens")  # of a reply

# What unpacking a row may raise when its bytes are not those that were written.
DAMAGED = (zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


class Replies(Keeper):
    """The replies of judges on disk."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or Store()
        with self.store.work() as db:
            db.execute("PRAGMA synchronous = FULL")
            db.execute(SECRET)
        self.claims = Claims(self.store)
        self.again: set[bytes] = set()  # to be requested again; the old replies stay until new ones come

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        """Return the intact replies that are stored under these keys; a damaged one counts as missing."""
        requested = [key for key in dict.fromkeys(keys) if key not in self.again]
        by_key: dict[bytes, Reply] = {}
        with self.store.work() as db:
            rows = self.store.select(db, f"SELECT {COLUMNS} FROM replies WHERE key IN ({{}})", requested)
            replies = {row[0]: _intact(row) for row in rows}
        by_key |= {key: reply for key, reply in replies.items() if reply is not None}
        self.store.count_damage(replies.keys() - by_key.keys(), "asked for again")
        return by_key

    def keep(self, replies: Mapping[bytes, Reply], requests: Mapping[bytes, Request]) -> None:
        """Store replies, all or none. One that another process stored first stays, unless it was requested again."""
        if not replies:
            return
        now = time.time()
        rows = [_row(key, requests[key], reply, now) for key, reply in replies.items()]
        with self.store.writing() as db:
            for row in rows:
                word = "REPLACE" if row[0] in self.again or row[0] in self.store.damaged else "IGNORE"
                db.execute(f"INSERT OR {word} INTO replies ({COLUMNS}) VALUES ({','.join('?' * 14)})", row)
        self.again -= set(replies)
        self.store.damaged -= set(replies)
        self.claims.drop(replies)

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        return self.claims.take(keys)

    def release(self, keys: Iterable[bytes] | None = None) -> None:
        self.claims.drop(keys)

    def secret(self) -> bytes:
        with self.store.writing() as db:
            db.execute("INSERT OR IGNORE INTO reply_secret VALUES (1, ?)", [secrets.token_bytes(16)])
            return bytes(db.execute("SELECT value FROM reply_secret").fetchone()[0])

    def remember(self, signature: str, spec: str) -> None:
        """Store the spec of a judge with its endpoint; a file of scores has only the signature."""
        with self.store.writing() as db:
            db.execute("INSERT OR REPLACE INTO judges VALUES (?, ?)", [signature, spec])

    def spec_of(self, signature: str) -> str | None:
        """Return the spec of the judge with that signature; None for one that never asked here."""
        with self.store.work() as db:
            row = db.execute("SELECT spec FROM judges WHERE signature = ?", [signature]).fetchone()
            return None if row is None else str(row[0])

    def summary(self) -> list[dict[str, Any]]:
        """Return one row per model: replies, tokens, mean seconds, times of the first and the last reply."""
        with self.store.work() as db:
            rows = db.execute(
                "SELECT CAST(model AS TEXT), COUNT(*), SUM(prompt_tokens), SUM(completion_tokens), MIN(CAST(made AS "
                "REAL)), MAX(CAST(made AS REAL)), AVG(seconds), COUNT(DISTINCT fingerprint) FROM replies GROUP BY "
                "model ORDER BY model"
            )
            names = "model,replies,tokens_in,tokens_out,first,last,seconds,fingerprints".split(",")
            return [dict(zip(names, row, strict=True)) for row in rows]

    def all(self) -> Iterator[dict[str, Any]]:
        """Yield every reply with its request, for export; few are in memory at a time."""
        last = b""
        while True:
            with self.store.work() as db:
                rows = db.execute(
                    f"SELECT {COLUMNS} FROM replies WHERE key > ? ORDER BY key LIMIT {MAX_QUERY_KEYS}", [last]
                ).fetchall()
            damaged = []
            for row in rows:
                if (reply := _intact(row)) is None:
                    damaged.append(row[0])
                    continue
                body = json.loads(zlib.decompress(row[4]))
                yield {
                    "key": bytes(row[0]).hex(),
                    "url": row[1],
                    "draw": row[3],
                    "body": body,
                    "reply": reply.text,
                    **{fact: getattr(reply, fact) for fact in (*FACTS, "seconds")},
                    "made": row[12],
                }
            self.store.count_damage(damaged, "left out")
            if len(rows) < MAX_QUERY_KEYS:
                return
            last = rows[-1][0]

    def export(self, path: str | Path) -> int:
        """Write every reply with its request as JSON lines and return how many; no API key is in the file."""
        count = 0
        with whole(path) as part, part.open("w", encoding="utf-8") as file:
            for row in self.all():
                file.write(storable(json.dumps(row, ensure_ascii=False)) + "\n")
                count += 1
        return count

    def prune(self, *, model: str | None = None, before: float | None = None) -> int:
        """Remove the replies of a model, or those older than a time, or both; return how many there were."""
        rules, values = [], []
        if model is not None:
            rules.append("model = ?")
            values.append(model)
        if before is not None:
            rules.append("made < ?")
            values.append(before)  # type: ignore[arg-type]
        with self.store.work() as db:
            return db.execute(f"DELETE FROM replies WHERE {' AND '.join(rules) or '0'}", values).rowcount


def _row(key: bytes, request: Request, reply: Reply, now: float) -> tuple[Any, ...]:
    body = json.dumps(dict(request.body), ensure_ascii=False)
    # Prompts repeat their instructions: compressed they take a third.
    answer = {"text": reply.text, "logprobs": reply.logprobs, "dropped": reply.dropped, "code": reply.code}
    content = json.dumps(answer, ensure_ascii=False)
    packed = [zlib.compress(text.encode("utf-8", "surrogatepass"), 6) for text in (body, content)]
    values = (
        key,
        request.url,
        str(request.body.get("model", "")),
        request.draw,
        packed[0],
        packed[1],
        *(getattr(reply, fact) for fact in FACTS),
        float(reply.seconds) + 0.0,
        now,
    )
    return (*values, checksum(values))


def _intact(row: tuple[Any, ...]) -> Reply | None:
    """Return the reply of a row; None where the row is not the one that was written."""
    try:
        return _reply(row[:-1]) if row[-1] == checksum(row[:-1]) else None
    except DAMAGED:  # of a file without checksums, whose rows got theirs later
        return None


def _reply(row: tuple[Any, ...]) -> Reply:
    answer = json.loads(zlib.decompress(row[5]).decode("utf-8", "surrogatepass"))
    if not isinstance(answer["text"], str) or any(isinstance(x, bytes) for x in row[6:]):
        raise ValueError("no reply")
    return Reply(
        answer["text"],
        row[6],
        row[7],
        row[8],
        int(row[9]),
        int(row[10]),
        float(row[11]),
        tuple(tuple((str(t), float(p)) for t, p in place) for place in answer["logprobs"]),
        tuple(answer["dropped"]),
        str(answer.get("code", "")),
    )
