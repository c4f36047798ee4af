"""The explorer's server: loopback only, the right host and a token, or no answer."""

from __future__ import annotations

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
    """What the server sends: the text and its media type."""

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
                body = await request.json() if request.method == "POST" else None
                reply = handler(explored, request.query_params, body)
            except (NlgaugeError, ValueError, TypeError, KeyError) as error:
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
    """Serve until stopped; `opened` gets the address (to open a browser)."""
    try:
        import uvicorn
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
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    server.run(sockets=[listening])
