"""A request to a judge, its reply, and who keeps replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from nlgauge.digests import digest


@dataclass(frozen=True)
class Request:
    """One call of /chat/completions. `draw` tells equal requests apart that are sampled several times."""

    url: str
    body: Mapping[str, Any]
    draw: int = 0

    @property
    def key(self) -> bytes:
        """A hash of all that determines the reply; what is equal is paid for once."""
        return digest([self.url, self.body, self.draw], 16)


@dataclass(frozen=True)
class Reply:
    """What came back. `logprobs`: for each token of the text its likeliest alternatives with log-probabilities."""

    text: str
    model: str = ""
    fingerprint: str = ""
    finish: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    logprobs: tuple[tuple[tuple[str, float], ...], ...] = ()
    dropped: tuple[str, ...] = field(default=())  # settings that the server refused, sent without


@dataclass(frozen=True)
class Failure:
    """A request without a reply, and why. `stopped`: the whole run ended for that reason."""

    reason: str
    asked: bool = True
    stopped: bool = False


class Keeper(Protocol):
    """Keeps replies for good: what `keep` has taken is there after any crash."""

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        """Return the replies that are stored under these keys."""

    def keep(self, replies: Mapping[bytes, Reply], requests: Mapping[bytes, Request]) -> None:
        """Store replies, with the requests they answer."""

    def claim(self, keys: Iterable[bytes], *, force: bool = False) -> set[bytes]:
        """Claim the keys that no other run is requesting (with `force` all of them) and return them."""
        ...

    def release(self) -> None:
        """Release the claims of requests without a reply."""
        ...


class Memory(Keeper):
    """A Keeper for one run; the durable one is `scoring.replies.Replies`."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Reply] = {}

    def known(self, keys: Iterable[bytes]) -> dict[bytes, Reply]:
        return {key: self._kept[key] for key in keys if key in self._kept}

    def keep(self, replies: Mapping[bytes, Reply], requests: Mapping[bytes, Request]) -> None:
        self._kept.update(replies)

    def claim(self, keys: Iterable[bytes], *, force: bool = False) -> set[bytes]:
        return set(keys)

    def release(self) -> None:
        pass


def guess_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens that a request may use: four characters per token, and all of max_tokens."""
    said = sum(len(str(m.get("content", ""))) for m in body.get("messages", ()))
    return said // 4 + 8 + int(body.get("max_tokens") or 0)


def read_reply(body: Any, seconds: float = 0.0, dropped: tuple[str, ...] = ()) -> Reply:
    """Read the reply from the JSON of /chat/completions; ValueError if there is none."""
    try:
        choice = body["choices"][0]
        text = choice["message"]["content"]
        usage = body.get("usage") or {}
        told = (choice.get("logprobs") or {}).get("content") or []
        return Reply(
            text="" if text is None else str(text),
            model=str(body.get("model") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
            finish=str(choice.get("finish_reason") or ""),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            seconds=seconds,
            dropped=dropped,
            logprobs=tuple(
                tuple((str(t["token"]), float(t["logprob"])) for t in place.get("top_logprobs") or [place])
                for place in told
            ),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueError(f"no chat completion ({type(error).__name__}: {error})") from None
