"""The probability that a language model answers yes, and not no, to a question.

Three kinds of model are accepted: a causal model in a folder or on the hub, a GGUF file (through llama.cpp), and the
address of an OpenAI-compatible server that reports token probabilities.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from nlgauge.digests import digest
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics.judge.completion import read_reply
from nlgauge.metrics.judge.replies import Memory, Reply, Request
from nlgauge.metrics.judge.secret import checked_url, find_key
from nlgauge.models.causal import likelihood
from nlgauge.models.loading import check_ready, fingerprint
from nlgauge.models.weights import weights_file

TOP_TOKENS = 20  # alternatives of the first token that most servers report
CONTEXT_TOKENS = 8192  # of a GGUF model; it refuses a longer question, whose value is then NaN
LLAMA_PACKAGE = "xllamacpp"
SERVER_TIMEOUT_SECONDS = 600.0  # a local server without a GPU may take long for one answer


class YesNo(Protocol):
    """A model that answers questions with yes or no."""

    def probabilities(self, questions: Sequence[str]) -> list[float]:
        """Return P(yes) / (P(yes) + P(no)) of each question; NaN where the model answers neither."""
        ...


def share_of_yes(alternatives: Iterable[tuple[str, float]]) -> float:
    """Return the probability of yes among the answers yes and no, in any spelling of case and spaces.

    >>> share_of_yes([("Yes", math.log(0.6)), (" yes", math.log(0.15)), ("No", math.log(0.25)), ("The", -9.0)])
    0.75
    """
    weight = {"yes": 0.0, "no": 0.0}
    for token, log in alternatives:
        word = token.strip(" \n\t▁Ġ*\"'.:,").lower()
        if word in weight and not math.isnan(log):
            weight[word] += math.exp(min(log, 0.0))
    total = weight["yes"] + weight["no"]
    return round(weight["yes"] / total, 12) if total > 0 else math.nan


class CausalYesNo:
    """A causal model of transformers; it sees its own chat template if it has one."""

    def __init__(self, name: str) -> None:
        self.model = likelihood(name)

    def probabilities(self, questions: Sequence[str]) -> list[float]:
        """Return the share of yes: the two answers are compared as continuations of the question."""
        prompts = [self._prompt(question) for question in questions]
        chat = self._has_template
        words = ("Yes", "No") if chat else (" Yes", " No")
        logs = iter(self.model.told([(prompt, word) for prompt in prompts for word in words], start=not chat))
        return [
            share_of_yes([("yes", yes.sum), ("no", no.sum)])
            for yes, no in ((next(logs), next(logs)) for _ in questions)
        ]

    @property
    def _has_template(self) -> bool:
        return bool(getattr(self.model.tokenizer, "chat_template", None))

    def _prompt(self, question: str) -> str:
        if not self._has_template:
            return f"{question}\nAnswer:"
        message = [{"role": "user", "content": question}]
        return str(self.model.tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True))


def chat_body(question: str, model: str = "") -> dict[str, Any]:
    """Return the request for the first token of the answer with its alternatives."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": question}], "max_tokens": 1, "temperature": 0.0}
    body |= {"logprobs": True, "top_logprobs": TOP_TOKENS}
    return {"model": model, **body} if model else body


class LlamaYesNo:
    """A GGUF file through llama.cpp, in this process (package xllamacpp, extra 'llama')."""

    def __init__(self, path: Path) -> None:
        import xllamacpp

        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = CONTEXT_TOKENS
        parameters.n_parallel = 1
        parameters.verbosity = -1  # nothing but errors
        self.server = xllamacpp.Server(parameters)

    def probabilities(self, questions: Sequence[str]) -> list[float]:
        """Return the share of yes; NaN where llama.cpp refuses the question."""
        return [self._share(self.server.handle_chat_completions(chat_body(question))) for question in questions]

    @staticmethod
    def _share(answer: Mapping[str, Any]) -> float:
        try:
            return _of_reply(read_reply(answer))
        except ValueError:
            return math.nan


class ServerYesNo:
    """A model behind an OpenAI-compatible address, given as `http://host:port/v1` or `http://host:port/v1#model`."""

    def __init__(self, address: str) -> None:
        base, _, self.model = address.partition("#")
        self.url = f"{checked_url(base)}/chat/completions"

    def probabilities(self, questions: Sequence[str]) -> list[float]:
        """Return the probability of yes; NaN if there is no reply or the server reports no token probabilities."""
        # Imported late: the client loads asyncio and ssl, which a list of metrics does not need.
        from nlgauge.metrics.judge.client import Asking, ask

        requests = {question: Request(self.url, chat_body(question, self.model)) for question in questions}
        how = Asking(concurrency=1, timeout=SERVER_TIMEOUT_SECONDS, key=find_key(self.url))
        replies = ask(requests.values(), Memory(), how)
        answers = [replies.get(requests[question].key) for question in questions]
        return [_of_reply(answer) if isinstance(answer, Reply) else math.nan for answer in answers]


def _of_reply(reply: Reply) -> float:
    return share_of_yes(reply.logprobs[0]) if reply.logprobs else math.nan


@functools.lru_cache(2)
def yes_no(lm: str) -> YesNo:
    """Return the model with this name, folder, GGUF file or address, which is loaded once."""
    if _is_address(lm):
        return ServerYesNo(lm)
    path = _gguf(lm)
    return LlamaYesNo(path) if path else CausalYesNo(lm)


def check_yes_no(metric: str, lm: str) -> None:
    """Raise NlgaugeError, before any work, for a model or package that is missing."""
    if _is_address(lm):
        checked_url(lm.partition("#")[0])
        return
    path = _gguf(lm)
    if path is None:
        check_ready(metric, lm=lm)
    elif not path.is_file():
        raise NlgaugeError(f"{metric}: lm='{lm}': no such file.")
    elif importlib.util.find_spec(LLAMA_PACKAGE) is None:
        raise NeedsMissing(f"{metric}: a GGUF model needs the extra 'llama': pip install \"nlgauge[llama]\"")


def name_of_model(lm: str) -> str:
    """Return the model's part of a signature: a name with a hash of its weights, or the hash of an address."""
    if _is_address(lm):
        return f"endpoint@{digest(lm, 4).hex()}"
    path = _gguf(lm)
    if path is None:
        return fingerprint(lm)
    with path.open("rb") as file:
        start = file.read(1 << 20)
        file.seek(max(0, path.stat().st_size - (1 << 20)))
        return f"{path.name}@{digest([path.stat().st_size, start.hex(), file.read().hex()]).hex()}"


def _is_address(lm: str) -> bool:
    return lm.startswith(("http://", "https://"))


def _gguf(lm: str) -> Path | None:
    """Return the GGUF file with this path, or the one that `cache get` stored under this name; None
    for other models.
    """
    return Path(lm).expanduser() if lm.endswith(".gguf") else weights_file(lm)
