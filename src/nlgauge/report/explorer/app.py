"""The explorer's server: loopback only, the right host and a token, or no answer."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from nlgauge.errors import NeedsMissing, NlgaugeError
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
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
}  # fmt: skip


def build(explored: Explored, token: str) -> Starlette:
    """The application; every request but the page's own script must carry the token."""
    try:
        from starlette.applications import Starlette
        from starlette.responses import HTMLResponse, JSONResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise NeedsMissing("explore needs the extra 'explore': pip install \"nlgauge[explore]\"") from None

    def guarded(answer: Callable[[Request, Any], Response], key: bool = True) -> Callable[[Request], Any]:
        async def checked(request: Request) -> Response:
            if request.headers.get("host", "").rpartition(":")[0] not in HOSTS:
                return Response("wrong host", 400, headers=GUARD)
            given = request.headers.get("x-token") or request.query_params.get("token") or ""
            if key and not secrets.compare_digest(given.encode(), token.encode()):
                return Response(
                    "open the address that `nlgauge explore` printed: it carries the token", 403, headers=GUARD
                )
            try:
                body = await request.json() if request.method == "POST" else None
                made = answer(request, body)
            except (NlgaugeError, ValueError, TypeError, KeyError) as error:
                return JSONResponse({"error": str(error)}, 400, headers=GUARD)
            made.headers.update(GUARD)
            return made

        return checked

    def page(request: Request, body: Any) -> Response:
        source = files("nlgauge.report.explorer").joinpath("page.html").read_text(encoding="utf-8")
        facts = json.dumps(explored.facts()).replace("<", "\\u003c")
        return HTMLResponse(source.replace("__FACTS__", facts))

    def plotly(request: Request, body: Any) -> Response:
        from plotly.offline import get_plotlyjs

        return Response(get_plotlyjs(), media_type="text/javascript")

    def points(request: Request, body: Any) -> Response:
        asked = request.query_params
        return JSONResponse(explored.points(asked["aspect"], asked["metric"], asked.get("other", "")))

    def sample(request: Request, body: Any) -> Response:
        return JSONResponse(explored.sample(int(request.query_params["place"])))

    def listed(request: Request, body: Any) -> Response:
        found = explored.listed([int(p) for p in body["places"]], str(body.get("words", "")))
        asked = [str(metric) for metric in body.get("metrics", ())]
        found["agreement"] = [explored.agreement(str(body["aspect"]), metric, found["places"]) for metric in asked]
        return JSONResponse(found)

    def label(request: Request, body: Any) -> Response:
        return JSONResponse(explored.label(int(body["place"]), str(body["label"])))

    def labels(request: Request, body: Any) -> Response:
        return JSONResponse(explored.labels())

    def export(request: Request, body: Any) -> Response:
        table = explored.selection([int(p) for p in body["places"]])
        text, kind = (
            (table.write_csv(), "text/csv")
            if body.get("format") == "csv"
            else (table.write_ndjson(), "application/jsonl")
        )
        return Response(text, media_type=kind)

    return Starlette(
        routes=[
            Route("/", guarded(page)), Route("/plotly.js", guarded(plotly, key=False)),
            Route("/points", guarded(points)),
            Route("/sample", guarded(sample)), Route("/list", guarded(listed), methods=["POST"]),
            Route("/export", guarded(export), methods=["POST"]), Route("/labels", guarded(labels)),
            Route("/label", guarded(label), methods=["POST"]),
        ]
    )  # fmt: skip


def serve(
    explored: Explored, port: int, tell: Callable[[str], None], opened: Callable[[str], Any] | None = None
) -> None:
    """Serve until stopped; `opened` gets the address (to open a browser)."""
    try:
        import uvicorn
    except ImportError:
        raise NeedsMissing("explore needs the extra 'explore': pip install \"nlgauge[explore]\"") from None
    import socket

    token = secrets.token_urlsafe(16)
    app = build(explored, token)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(128)  # who is quick waits for the server instead of being refused
    except OSError as error:
        raise NlgaugeError(
            f"explore: port {port} cannot be used ({error.strerror}); choose another with --port."
        ) from None
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"
    tell(address)
    if opened is not None:
        opened(address)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    server.run(sockets=[listening])
