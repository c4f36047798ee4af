"""Cost of a judge: tokens, prices from the user's file, an estimate before and a limit during the run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nlgauge.data.files import read_text
from nlgauge.errors import DataError
from nlgauge.metrics.judge.replies import Keeper, Reply, Request, guess_tokens
from nlgauge.options import option


@dataclass(frozen=True)
class Price:
    """Price of a million input and output tokens."""

    input: float
    output: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of these numbers of tokens."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def load_prices(path: str | Path) -> dict[str, Price]:
    """Read prices per million tokens from JSON: `{"model": {"input": 0.15, "output": 0.6}}`."""
    path = Path(path)
    content = read_text(path)
    try:
        text = json.loads(content)
        return {str(model): Price(float(p["input"]), float(p["output"])) for model, p in text.items()}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise DataError(
            f'{path}: {error}; write {{"model": {{"input": 0.15, "output": 0.6}}}}, prices of a million tokens.'
        ) from None


@dataclass(frozen=True)
class CostPlan:
    """Requests and cost of a run; `known` replies are stored already."""

    requests: int
    known: int
    tokens_in: int
    tokens_out_most: int
    cost_most: float | None

    def lines(self) -> list[str]:
        """Return the plan in sentences."""
        paid = f"unknown (give {option('prices')})" if self.cost_most is None else f"at most {self.cost_most:.4f}"
        return [
            f"{self.requests:,} requests, of which {self.known:,} are in the store and cost nothing",
            f"about {self.tokens_in:,} tokens in (4 characters a token), at most {self.tokens_out_most:,} out",
            f"cost: {paid}",
        ]


def plan(requests: Iterable[Request], keeper: Keeper, prices: Mapping[str, Price]) -> CostPlan:
    """Return the maximum cost of the requests without sending them."""
    distinct = {r.key: r for r in requests}
    available = keeper.known(distinct)
    todo = [r for key, r in distinct.items() if key not in available]
    out = [int(r.body.get("max_tokens") or 0) for r in todo]
    into = [guess_tokens(r.body) - o for r, o in zip(todo, out, strict=True)]
    models = {str(r.body["model"]) for r in todo}
    cost = (
        sum(prices[str(r.body["model"])].of(i, o) for r, i, o in zip(todo, into, out, strict=True))
        if models <= set(prices)
        else None
    )
    return CostPlan(len(distinct), len(available), sum(into), sum(out), cost)


class Budget:
    """Allow a request only if its maximum cost is within the budget; requests in progress count at their maximum."""

    def __init__(self, most: float, prices: Mapping[str, Price]) -> None:
        self.most, self.prices = most, prices
        self.spent = 0.0
        self._reserved: dict[bytes, float] = {}

    def __call__(self, request: Request, reply: Reply | None) -> bool:
        model = str(request.body["model"])
        if model not in self.prices:
            raise DataError(
                f"{option('max_cost')} needs the price of '{model}'; add it to the file of {option('prices')}."
            )
        if reply is not None:
            self._reserved.pop(request.key, None)
            out = int(request.body.get("max_tokens") or 0)
            # Without a valid token count from the server, tokens are estimated.
            tokens_in = reply.prompt_tokens or guess_tokens(request.body) - out
            tokens_out = reply.completion_tokens or len(reply.text) // 4 + 1
            self.spent += self.prices[model].of(tokens_in, tokens_out)
            return True
        out = int(request.body.get("max_tokens") or 0)
        # Three characters per token instead of four, so that the estimate is not too low.
        worst = self.prices[model].of(int(1.33 * (guess_tokens(request.body) - out)) + 16, out)
        if self.spent + sum(self._reserved.values()) + worst > self.most:
            return False
        self._reserved[request.key] = worst
        return True
