"""Requests to a judge, replies, and the interface for storing replies."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from nlgauge.digests import digest

CODE_LENGTH = 4  # hexadecimal digits of the code in the requested format


@dataclass(frozen=True)
class Request:
    """One call of /chat/completions. `draw` distinguishes equal requests that are sampled several times.

    `code_places` are the offsets in the last message at which the code of this request is inserted when it is sent;
    `shown` is the span of that message with the judged texts. Neither is part of the key.
    """

    url: str
    body: Mapping[str, Any]
    draw: int = 0
    code_places: tuple[int, ...] = ()
    shown: tuple[int, int] = (0, 0)

    @property
    def key(self) -> bytes:
        """A hash of everything that determines the reply; equal requests are paid for once."""
        return digest([self.url, self.body, self.draw], 16)

    def judged_text(self) -> str:
        """Return the texts that the judge is shown; '' where they are not known."""
        first, end = self.shown
        return str(self.body["messages"][-1]["content"])[first:end] if end else ""

    def coded_body(self, code: str) -> Mapping[str, Any]:
        """Return the body of a request, with the request's code in the required format of the reply."""
        if not self.code_places or not code:
            return self.body
        *before, last = self.body["messages"]
        text, edges = last["content"], pairwise((0, *self.code_places, None))
        pieces = [text[first:end] for first, end in edges]
        return {**self.body, "messages": [*before, {**last, "content": f"-{code}".join(pieces)}]}


@dataclass(frozen=True)
class Reply:
    """The answer of a model. `logprobs`: for each token of the text its most likely alternatives with
    log-probabilities.
    """

    text: str
    model: str = ""
    fingerprint: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    dropped: tuple[str, ...] = field(default=())  # settings that the server rejected and that were omitted
    code: str = ""  # the code that the reply had to write next to its rating


@dataclass(frozen=True)
class Failure:
    """A request without a reply, and the reason. `stopped`: the whole run ended for that reason."""

    reason: str
    asked: bool = True
    stopped: bool = False


class Keeper(Protocol):
    """Stores replies durably: replies passed to `keep` survive any crash."""

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        """Return the replies that are stored under these keys."""

    def keep(self, replies: Mapping[bytes, Reply], requests: Mapping[bytes, Request]) -> None:
        """Store replies, with the requests they answer."""

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """Claim the keys that no other running process is requesting, and return them."""
        ...

    def release(self, keys: Iterable[bytes] | None = None) -> None:
        """Release the claims of these requests, which got no reply; None: all claims."""
        ...

    def secret(self) -> bytes:
        """Return the secret from which the codes of requests are derived."""
        ...


class Memory(Keeper):
    """A Keeper for one run; the durable one is `scoring.replies.Replies`."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Reply] = {}
        self._secret = secrets.token_bytes(16)

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        return {key: self._kept[key] for key in keys if key in self._kept}

    def keep(self, replies: Mapping[bytes, Reply], requests: Mapping[bytes, Request]) -> None:
        self._kept.update(replies)

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        return set(keys)

    def release(self, keys: Iterable[bytes] | None = None) -> None:
        pass

    def secret(self) -> bytes:
        return self._secret


def request_code(request: Request, secret: bytes) -> str:
    """Return the code that the reply must write next to its rating, which judged texts cannot contain.

    It comes from a secret of this cache and from the request, so it is the same at every attempt. It is not part of
    the request's key: a reply that is in the cache stays valid in another cache, with another secret.
    """
    if not request.code_places:
        return ""
    return hmac.new(secret, request.key, hashlib.sha256).hexdigest()[:CODE_LENGTH]


def guess_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens that a request may use: four characters per token, and all of max_tokens."""
    text = sum(len(str(m.get("content", ""))) for m in body.get("messages", ()))
    return text // 4 + 8 + int(body.get("max_tokens") or 0)
