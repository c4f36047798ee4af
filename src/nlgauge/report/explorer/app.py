"""Server of the explorer: it accepts only loopback requests with the right host and token, of bounded size."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.options import option
from nlgauge.report.explorer.points import Explored

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MAX_BODY = 16 << 20  # bytes of a request: a selection of a million outputs is half of it
REQUEST_SECONDS = 10.0  # in which a request has to arrive; the browser is on the same machine
MAX_CONNECTIONS = 512  # at once
# What a body that is no sensible question raises: 1e400 as a place, lists nested 100,000 deep.
SENSELESS = (NlgaugeError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
HOSTS = ("127.0.0.1", "localhost", "[::1]")
# A page from elsewhere may not be embedded, may not load anything, and may not send its texts anywhere.
GUARD = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class WebReply(NamedTuple):
    """Reply of the server: the text and its media type."""

    text: str
    media: str


Query = Mapping[str, str]
Handler = Callable[[Explored, Query, Any], WebReply]  # the query of the address, and the body of a POST request


def build(explored: Explored, token: str) -> Starlette:
    """Build the application; every request but the page's own script must carry the token."""
    try:
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise NeedsMissing("explore needs the extra 'explore': pip install \"nlgauge[explore]\"") from None

    def route(path: str, handler: Handler, method: str = "GET", key: bool = True) -> Route:
        async def respond(request: Request) -> Response:
            if request.headers.get("host", "").rpartition(":")[0] not in HOSTS:
                return Response("wrong host", 400, headers=GUARD)
            given = request.headers.get("x-token") or request.query_params.get("token") or ""
            if key and not secrets.compare_digest(given.encode(), token.encode()):
                return Response(
                    "open the address that `nlgauge explore` printed: it carries the token", 403, headers=GUARD
                )
            try:
                raw = await _received(request)
            except TimeoutError:
                return Response("the request did not arrive in time", 408, headers={**GUARD, "Connection": "close"})
            if raw is None:
                return Response(
                    f"a request has at most {MAX_BODY:,} bytes", 413, headers={**GUARD, "Connection": "close"}
                )
            try:
                body = json.loads(raw) if request.method == "POST" else None
                # In a thread: one that waits for the lock of the label file must not keep the others waiting.
                reply = await asyncio.to_thread(handler, explored, request.query_params, body)
            except SENSELESS as error:
                return JSONResponse({"error": str(error)}, 400, headers=GUARD)
            return Response(reply.text, media_type=reply.media, headers=GUARD)

        return Route(path, respond, methods=[method])

    return Starlette(
        routes=[
            route("/", _page),
            route("/plotly.js", _plotly, key=False),
            route("/points", _points),
            route("/sample", _sample),
            route("/list", _list, "POST"),
            route("/export", _export, "POST"),
            route("/labels", _labels),
            route("/label", _label, "POST"),
        ]
    )


async def _received(request: Request) -> bytes | None:
    """Return the body of a request; None where it is too long."""
    parts, size = [], 0
    async with asyncio.timeout(REQUEST_SECONDS):
        async for part in request.stream():
            size += len(part)
            if size > MAX_BODY:
                return None
            parts.append(part)
    return b"".join(parts)


def _json(value: Any) -> WebReply:
    return WebReply(json.dumps(value, ensure_ascii=False, allow_nan=False), "application/json")


def _page(explored: Explored, query: Query, body: Any) -> WebReply:
    source = files("nlgauge.report.explorer").joinpath("page.html").read_text(encoding="utf-8")
    facts = json.dumps(explored.facts()).replace("<", "\\u003c")
    return WebReply(source.replace("__FACTS__", facts), "text/html")


def _plotly(explored: Explored, query: Query, body: Any) -> WebReply:
    from plotly.offline import get_plotlyjs

    return WebReply(get_plotlyjs(), "text/javascript")


def _points(explored: Explored, query: Query, body: Any) -> WebReply:
    return _json(explored.points(query["aspect"], query["metric"], query.get("other", "")))


def _sample(explored: Explored, query: Query, body: Any) -> WebReply:
    return _json(explored.sample(int(query["place"])))


def _list(explored: Explored, query: Query, body: Any) -> WebReply:
    listed = explored.listed([int(p) for p in body["places"]], str(body.get("words", "")))
    metrics = [str(metric) for metric in body.get("metrics", ())]
    listed["agreement"] = [explored.agreement(str(body["aspect"]), metric, listed["places"]) for metric in metrics]
    return _json(listed)


def _export(explored: Explored, query: Query, body: Any) -> WebReply:
    table = explored.selection([int(p) for p in body["places"]])
    if body.get("format") == "csv":
        return WebReply(table.write_csv(), "text/csv")
    return WebReply(table.write_ndjson(), "application/jsonl")


def _labels(explored: Explored, query: Query, body: Any) -> WebReply:
    return _json(explored.labels())


def _label(explored: Explored, query: Query, body: Any) -> WebReply:
    return _json(explored.label(int(body["place"]), str(body["label"])))


def serve(
    explored: Explored, port: int, tell: Callable[[str], None], opened: Callable[[str], Any] | None = None
) -> None:
    """Serve the page until stopped; call `opened` with the address, to open a browser."""
    try:
        import uvicorn
        from uvicorn.protocols.http.auto import AutoHTTPProtocol
    except ImportError:
        raise NeedsMissing("explore needs the extra 'explore': pip install \"nlgauge[explore]\"") from None

    token = secrets.token_urlsafe(16)
    app = build(explored, token)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(128)  # who is quick waits for the server instead of being refused
    except OSError as error:
        raise NlgaugeError(
            f"explore: port {port} cannot be used ({error.strerror}); choose another with {option('port')}."
        ) from None
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"
    tell(address)
    if opened is not None:
        opened(address)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, http=_impatient(AutoHTTPProtocol), limit_concurrency=MAX_CONNECTIONS
    )
    try:
        uvicorn.Server(settings).run(sockets=[listening])
    finally:
        explored.labels()  # what an editor has overwritten since the last label is added again


def _impatient(protocol: type[Any]) -> type[Any]:
    """Return uvicorn's protocol with an end to connections that never finish the head of a request.

    uvicorn ends those that are idle after an answer; without this, a client that sends a byte now and then would hold
    a connection, and enough of them all that this process may open.
    """

    class Impatient(protocol):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._look(None)

        def _look(self, before: object) -> None:
            if self.transport.is_closing():
                return
            answered = self.cycle is None or self.cycle.response_complete
            now = (self.cycle,) if answered else None
            if now is not None and before == now:  # no request since the last look
                self.transport.abort()
                return
            self.loop.call_later(REQUEST_SECONDS, self._look, now)

    return Impatient
