"""Client of an OpenAI-compatible endpoint: concurrent requests with retries, each reply stored when it arrives.

Whatever happens (a dropped connection, truncated JSON, 429, a crash of this process), a stored reply is never requested
again, and a request that failed permanently is a Failure with its reason, never an empty reply. When further requests
are pointless (a dead endpoint, a wrong key, an exhausted quota or budget), the run stops, and the remaining requests
are Failures that say so.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics.judge.completion import AnswerRefused, BodyReader, decode_json, read_reply, storable
from nlgauge.metrics.judge.rate_limits import Gate, retry_after
from nlgauge.metrics.judge.replies import Failure, Keeper, Reply, Request, guess_tokens, request_code
from nlgauge.metrics.judge.secret import LOOPBACK, Secret
from nlgauge.options import option
from nlgauge.types import Steps

if TYPE_CHECKING:
    import httpx2

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
STOP = frozenset({401, 402, 403, 404, 405})
# If a server rejects these, the request is sent without them, with a note.
OPTIONAL = ("logprobs", "response_format", "seed", "temperature")
PART = 500  # requests looked up in the store at once
FLUSH = 0.05  # seconds for which replies are collected before they are written together
POLL_SECONDS = 0.2  # seconds between checks for replies that another run has received
MAX_PAUSE_SECONDS = 60.0  # maximum pause between attempts
MAX_SERVER_WAIT_SECONDS = 300.0  # maximum Retry-After in seconds that is obeyed; longer waits end the run
FIRST_ATTEMPTS = 3  # attempts of a request before the first answer of the endpoint
MAX_LOST_REQUESTS = 3  # consecutive failed requests after which the endpoint counts as dead
# Errors of storing a single reply because of its content: only this reply fails.
UNSTORABLE = (UnicodeError, OverflowError, ValueError, TypeError, RecursionError)
READ_BYTES = 1 << 16  # bytes of an answer read at once
QUOTED_BYTES = 2000  # characters quoted from an answer without JSON
MAX_SAME_REFUSALS = 20  # requests rejected with the same message before any was answered


@dataclass(frozen=True)
class Asking:
    """How requests are sent. Nothing here affects a score, so nothing of it is in a signature."""

    concurrency: int = 16
    attempts: int = 8
    timeout: float = 120.0
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    pause: float = 0.5  # before the second attempt; doubles
    key: Secret = field(default_factory=Secret)
    budget: Callable[[Request, Reply | None], bool] | None = (
        None  # decides whether a request may be sent; informed of each reply
    )

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.attempts < 1:
            raise NlgaugeError("concurrency and attempts must be at least 1.")


def ask(
    requests: Iterable[Request],
    keeper: Keeper,
    how: Asking | None = None,
    progress: Steps | None = None,
    total: int = 0,
) -> dict[bytes, Reply | Failure]:
    """Return the reply to every request, by its key; only requests without a stored reply are sent.

    Requests are created on demand, so a generator of any length takes little memory; `total` is for the progress.
    """
    run = _Run(keeper, how or Asking(), progress, total)
    left = run.open(requests)
    first = list(islice(left, 1))
    try:
        if first or run.later:
            _finished(run.all(chain(first, left)))
    finally:
        try:
            # A signal can end the loop anywhere, also while replies are written: here nothing else is running any
            # more.
            run.keep(run.fresh)
        finally:
            keeper.release()
    return run.found


def _finished(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to completion, in a new thread where a loop is already running (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    with ThreadPoolExecutor(1) as beside:
        beside.submit(asyncio.run, work).result()


class _Run:
    """One call of `ask`: workers take requests, a writer stores replies."""

    def __init__(self, keeper: Keeper, how: Asking, progress: Steps | None, total: int) -> None:
        self.keeper, self.how, self.progress, self.total = keeper, how, progress, total
        self.found: dict[bytes, Reply | Failure] = {}
        self.fresh: dict[bytes, tuple[Request, Reply]] = {}
        self.secret = keeper.secret()
        self.gate = Gate(how.requests_per_minute, how.tokens_per_minute)
        self.refused: set[str] = set()
        self.stopped = ""  # why the run ended early
        self.broken = False  # an error ends the run: no worker may begin another request
        self.good = 0  # replies so far
        self.lost = 0
        self.same: Counter[str] = Counter()
        self.halt = asyncio.Event()
        self.later: dict[bytes, Request] = {}  # another run is asking for these
        self.rng = random.Random()  # for pauses only

    def open(self, requests: Iterable[Request]) -> Iterator[tuple[bytes, Request]]:
        """Yield the requests that must be sent, each once; stored replies are added to `found`."""
        waiting: set[bytes] = set()
        source = iter(requests)
        while part := {r.key: r for r in islice(source, PART)}:
            new = [key for key in part if key not in self.found and key not in waiting]
            self.found |= self.keeper.known(new)
            for key in new:
                if key not in self.found:
                    waiting.add(key)
            own = self.free({key: part[key] for key in new if key not in self.found})
            yield from ((key, part[key]) for key in own)

    def free(self, asked: dict[bytes, Request]) -> list[bytes]:
        """Return the keys that this run may request now; the others are looked up again later."""
        own = self.keeper.claim(asked)
        # Replies that another run received between our lookup and our claim are stored by now.
        self.found |= self.keeper.known(asked)
        self.later |= {key: r for key, r in asked.items() if key not in own and key not in self.found}
        return [key for key in asked if key in own and key not in self.found]

    async def all(self, left: Iterator[tuple[bytes, Request]]) -> None:
        writer = asyncio.create_task(self.write())
        try:
            await self.round(left, writer)
            await self.others(writer)
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self.keep(self.fresh)

    async def round(self, left: Iterator[tuple[bytes, Request]], writer: asyncio.Task[None]) -> None:
        connect = _connections(self.how)
        workers = [asyncio.create_task(self.work(connect(), left)) for _ in range(self.how.concurrency)]
        asking: asyncio.Future[Any] = asyncio.gather(*workers)
        try:
            # A writer that stops has failed (for example, the disk is full), so no further paid requests may be sent.
            await asyncio.wait([asking, writer], return_when=asyncio.FIRST_COMPLETED)
            await (writer if writer.done() else asking)
        except BaseException:
            self.broken = True  # a cancellation can be lost (asyncio.wait_for, when an answer comes with it)
            raise
        finally:
            asking.cancel()
            await asyncio.gather(asking, *workers, return_exceptions=True)

    async def others(self, writer: asyncio.Task[None]) -> None:
        """Wait for requests of another run; request them here if that run gives up, ends or stalls."""
        while asked := self.later:
            self.later = {}
            # Another run may wait for what got no reply here: two runs must not wait for each other.
            self.keeper.release(key for key, reply in self.found.items() if isinstance(reply, Failure))
            if self.stopped:
                self.found |= dict.fromkeys(asked, self.not_asked())
                return
            own = self.free(asked)
            if own:
                await self.round(iter([(key, asked[key]) for key in own]), writer)
            elif self.later:
                await asyncio.sleep(POLL_SECONDS)
            if self.progress:
                self.progress(len(self.found), max(self.total, len(self.found)))

    async def work(self, http: httpx2.AsyncClient, left: Iterator[tuple[bytes, Request]]) -> None:
        async with http:
            for key, request in left:
                if self.broken:
                    return
                if not self.stopped and self.how.budget and not self.how.budget(request, None):
                    # Requests in progress are paid for and may finish.
                    self.stopped = f"the budget is used up: more could cost more than {option('max_cost')} allows"
                if self.stopped:
                    self.found[key] = self.not_asked()
                    continue
                reply = await self.one(http, request)
                self.found[key] = reply
                if isinstance(reply, Reply):
                    self.fresh[key] = request, reply
                    if self.how.budget:
                        self.how.budget(request, reply)
                if self.progress:
                    self.progress(len(self.found), max(self.total, len(self.found)))

    async def write(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            # A copy made by the event loop: no worker adds to what is being written, and if an error occurs (a
            # full disk, a signal), they are stored again at the end of the run.
            if fresh := dict(self.fresh):
                await asyncio.shield(asyncio.to_thread(self.keep, fresh))
                self.fresh = {key: told for key, told in self.fresh.items() if key not in fresh}

    def keep(self, fresh: dict[bytes, tuple[Request, Reply]]) -> None:
        """Store replies. If that fails because of the content of one of them, store each separately."""
        if not fresh:
            return
        try:
            self.keeper.keep({k: reply for k, (_, reply) in fresh.items()}, {k: r for k, (r, _) in fresh.items()})
        except UNSTORABLE:
            for key, (request, reply) in fresh.items():
                try:
                    self.keeper.keep({key: reply}, {key: request})
                except UNSTORABLE as error:
                    self.found[key] = Failure(f"the reply cannot be stored ({type(error).__name__}: {error})")

    def stop(self, why: str) -> Failure:
        """Stop the run: no more requests are sent, and no worker waits for another attempt."""
        self.stopped = self.stopped or why
        self.halt.set()
        return self.not_asked(asked=True)

    def not_asked(self, asked: bool = False) -> Failure:
        return Failure(self.stopped, asked=asked, stopped=True)

    async def rest(self, seconds: float) -> bool:
        """Wait, and return whether the run was stopped meanwhile."""
        if seconds > 0 and not self.halt.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self.halt.wait(), seconds)
        return self.halt.is_set()

    async def one(self, http: httpx2.AsyncClient, request: Request) -> Reply | Failure:
        """Attempt a request until there is a reply; a permanent refusal stops the whole run."""
        why, before, attempt = "", self.good, 0
        code = request_code(request, self.secret)
        coded = request.coded_body(code)
        for attempt in range(self.how.attempts):
            if attempt and await self.rest(self.pause(attempt)):
                return self.not_asked(asked=True)
            body = {k: v for k, v in coded.items() if not self.dropped(k)}
            wait = self.gate.enter(guess_tokens(request.body))
            while wait:
                if await self.rest(wait):
                    return self.not_asked(asked=True)
                wait = self.gate.closed()
            begun = time.monotonic()
            try:
                status, headers, answer, why = await self.post(http, request.url, body)
                if status == 200:
                    left_out = tuple(sorted(self.refused & set(request.body)))
                    reply = read_reply(answer, time.monotonic() - begun, left_out, code)
                    self.good += 1
                    return reply
            except AnswerRefused as error:  # another attempt would cost as much and fail in the same way
                return self.given_up(str(error).rstrip("."))
            except ValueError as error:
                why, status = f"{error}; is {option('base_url')} right?", 0
            if status in STOP or 300 <= status < 400:
                return self.stop(f"{why}{_hint(status, self.how.key)}")
            if status in (429, 503):
                wait = retry_after(headers) or 0.0
                if "quota" in why.lower() or wait > MAX_SERVER_WAIT_SECONDS:
                    return self.stop(f"{why} (to wait {wait:,.0f} s)" if wait > MAX_SERVER_WAIT_SECONDS else why)
                self.gate.close(wait)
            elif status and status not in AGAIN:
                setting = next((o for o in OPTIONAL if o in body and o in why), None)
                if setting is None:
                    return self.given_up(why)
                self.refused.add(setting)
            if not status and not self.good and attempt + 1 >= FIRST_ATTEMPTS:
                break  # the endpoint has never answered
        self.lost = self.lost + 1 if self.good == before else 0
        if self.lost >= MAX_LOST_REQUESTS:
            return self.stop(f"no request gets a reply; the last: {why}")
        return Failure(f"no reply after {attempt + 1} attempts; the last: {why}")

    def given_up(self, why: str) -> Failure:
        """Abandon one request, or stop the run if many requests fail with the same message and none
        was ever answered.
        """
        self.same[why] += 1
        return self.stop(why) if not self.good and self.same[why] >= MAX_SAME_REFUSALS else Failure(why)

    def dropped(self, setting: str) -> bool:
        return setting in self.refused or (setting == "top_logprobs" and "logprobs" in self.refused)

    def pause(self, attempt: int) -> float:
        most: float = min(MAX_PAUSE_SECONDS, self.how.pause * 2 ** (attempt - 1))
        return most * (0.5 + 0.5 * self.rng.random())

    async def post(
        self, http: httpx2.AsyncClient, url: str, body: Mapping[str, Any]
    ) -> tuple[int, dict[str, str], Any, str]:
        """Return status (0: no answer), headers, parsed JSON or None, and an error message."""
        import httpx2

        try:
            status, headers, raw = await asyncio.wait_for(_fetch(http, url, body), self.how.timeout)
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            return 0, {}, None, self.how.key.hide(f"{type(error).__name__} {error}".strip())
        try:
            answer = decode_json(raw)
        except ValueError:
            words = self.how.key.hide(raw[:QUOTED_BYTES].decode("utf-8", "replace"))[:80]
            return status if status != 200 else 0, headers, None, f"HTTP {status}, and no JSON: {words!r}"
        if status == 200:
            return 200, headers, answer, ""
        text = answer.get("error", answer) if isinstance(answer, dict) else answer
        text = text.get("message", text) if isinstance(text, dict) else text
        words = text if isinstance(text, str) else json.dumps(text)
        return status, headers, answer, f"HTTP {status}: {storable(self.how.key.hide(words[:5000])[:300])}"


async def _fetch(http: httpx2.AsyncClient, url: str, body: Mapping[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and bytes of an answer, which is read up to a size limit."""
    # Half a surrogate in a text that is judged becomes '?', rather than an error that costs the request.
    sent = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    async with http.stream("POST", url, content=sent, headers={"Content-Type": "application/json"}) as response:
        headers = {k.lower(): v for k, v in response.headers.items()}
        reader = BodyReader(headers.get("content-encoding", ""))
        async for chunk in response.aiter_raw(READ_BYTES):
            reader.add(chunk)
        return response.status_code, headers, reader.body()


def _connections(how: Asking) -> Callable[[], httpx2.AsyncClient]:
    """Return a factory of HTTP clients, one per worker: a shared pool scans all connections for every request."""
    try:
        import httpx2
    except ImportError:
        raise NeedsMissing("judges need the extra 'judges': pip install \"nlgauge[judges]\"") from None
    trusted = ssl.create_default_context()  # slow to make, so made once
    limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
    timeout = httpx2.Timeout(how.timeout)
    # A redirect would send the outputs to another host.
    return lambda: httpx2.AsyncClient(
        headers={**how.key.headers(), "Accept-Encoding": "gzip"},
        timeout=timeout,
        limits=limits,
        verify=trusted,
        follow_redirects=False,
        mounts=dict.fromkeys(LOOPBACK),
    )


def _hint(status: int, key: Secret) -> str:
    if 300 <= status < 400:
        return f" (redirects are not followed: give the final {option('base_url')})"
    if status in (401, 403):
        return (
            " (the key is read from " + key.source + ")"
            if key
            else f" (no key: {key.withheld or f'set {Secret.VARIABLE} or ' + option('key_file')})"
        )
    return f" (is {option('base_url')} right? it ends in /v1 at most servers)" if status in (404, 405) else ""
