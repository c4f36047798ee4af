"""The judging protocol: from samples to requests, and from replies to scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nlgauge.metrics.batch import Scores
from nlgauge.metrics.judge.expected_rating import expected_rating
from nlgauge.metrics.judge.pairwise import ShownPair, all_pairs, read_choice
from nlgauge.metrics.judge.replies import Failure, Reply, Request
from nlgauge.metrics.judge.reply_parser import Parsed, parse_by, parse_reply
from nlgauge.metrics.judge.scale import Scale
from nlgauge.metrics.judge.task import Prompt, Task, filled
from nlgauge.text.batch import Batch
from nlgauge.types import Array

SHORT_TOKENS = 24  # max_tokens for a reply that is only a rating; with its code it takes about 12
TOP = 20  # alternatives per token that most servers return
WITHOUT_CODE = "read without the requested code, which protects against ratings in the judged text"
Found = Mapping[bytes, Reply | Failure]


@dataclass(frozen=True)
class JudgeProtocol:
    """A task, an aspect and all settings: they alone determine what is sent and how replies are read."""

    task: Task
    aspect: str
    model: str
    url: str
    scale: Scale
    mode: str
    n: int
    temperature: float
    fill: str = ""
    structured: bool = False
    rivals: int | None = None
    pattern: str = ""

    # --- asking ---

    def requests(self, batch: Batch) -> Iterator[Request]:
        """Yield all requests for these samples, each as often as it is drawn."""
        if self.mode == "pairwise":
            for pair in self.pairs(batch):
                yield from self.drawn(self._pair(batch, pair))
            return
        for i in range(len(batch)):
            if batch.output[i] >= 0:
                yield from self.drawn(self.example(batch, i))

    def count(self, batch: Batch) -> int:
        """Return how many requests there are; equal ones count separately."""
        return self.n * (len(self.pairs(batch)) if self.mode == "pairwise" else int((batch.output >= 0).sum()))

    def drawn(self, example: str) -> Iterator[Request]:
        """Yield the request about an example once for each draw."""
        prompt = self.prompt(example)
        body = self.body(prompt.text)
        # With token probabilities a code would change the measured rating.
        places = () if self.mode == "logprobs" else prompt.code_places
        for draw in range(self.n):
            yield Request(self.url, body, draw, places, prompt.shown)

    def pairs(self, batch: Batch) -> list[ShownPair]:
        """Return the pairs of outputs of one input that are compared, in the order in which they are shown."""
        inputs = batch.input if batch.input is not None else np.arange(len(batch))
        return [p for p in all_pairs(inputs, self.rivals) if batch.output[p.first] >= 0 and batch.output[p.second] >= 0]

    def prompt(self, example: str) -> Prompt:
        """Return the prompt about an example."""
        low, high = (
            (self.scale.letters[0], self.scale.letters[-1])
            if self.scale.letters
            else (f"{self.scale.low:g}", f"{self.scale.high:g}")
        )
        return filled(
            self.task.prompt(self.mode),
            task=self.task.task,
            scale=str(self.scale),
            aspect=self.aspect,
            definition=self.task.aspects[self.aspect],
            example=example,
            output=self.task.output,
            low=low,
            high=high,
        )

    def body(self, prompt: str) -> dict[str, Any]:
        """Return the body of a request with this prompt."""
        messages = [{"role": "user", "content": prompt}]
        if self.task.system:
            messages.insert(0, {"role": "system", "content": self.task.system})
        short = self.mode in ("rating", "logprobs")
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": min(self.task.max_tokens, SHORT_TOKENS)
            if short and not self.structured
            else self.task.max_tokens,
        }
        if self.mode == "logprobs":
            body |= {"logprobs": True, "top_logprobs": TOP}
        if self.structured and self.mode != "pairwise":
            body["response_format"] = _schema(self.mode == "analysis")
        return body

    def example(self, batch: Batch, i: int) -> str:
        """Return the texts of a sample in the prompt: the texts that the task shows, then the output."""
        return "\n\n".join([*self._shown(batch, i), self._headed(self.task.output, batch.text(int(batch.output[i])))])

    def _pair(self, batch: Batch, pair: ShownPair) -> str:
        shown = self._shown(batch, pair.first)
        for letter, place in (("A", pair.first), ("B", pair.second)):
            shown.append(self._headed(f"{self.task.output} {letter}", batch.text(int(batch.output[place]))))
        return "\n\n".join(shown)

    def _headed(self, name: str, text: str | None) -> str:
        return f"{self.task.heading.replace('{name}', name)}\n{text}"

    def _shown(self, batch: Batch, i: int) -> list[str]:
        """Return the texts shown to the judge together with the output; missing ones are left out."""
        results = []
        for part, name in self.task.shows.items():
            if part == "references":
                texts = [batch.text(int(r)) for r in batch.reference[batch.start[i] : batch.start[i + 1]]]
            elif part == "control":
                texts = [batch.control[i]]
            else:
                texts = [batch.text(int(getattr(batch, part)[i]))]
            results += [self._headed(name, text) for text in texts if text]
        return results

    # --- reading ---

    def scores(self, batch: Batch, found: Found) -> Scores:
        """Return one score per sample from the replies: the mean rating over draws, or the share of comparisons won."""
        if self.mode == "pairwise":
            return self._win_shares(batch, found)
        values, reasons, notes = np.full(len(batch), np.nan), {}, {}
        for i in range(len(batch)):
            if batch.output[i] < 0:
                reasons[i] = "no output"
                continue
            read = [self.read(found[r.key], r) for r in self.drawn(self.example(batch, i))]
            good = [p.value for p in read if p.value is not None]
            why = Counter(p.reason for p in read if p.value is None)
            if good:
                values[i] = math.fsum(good) / len(good)
                text = {p.note for p in read if p.note}
                if why:
                    text.add(f"{len(read) - len(good)} of {len(read)} draws unscored")
                if text:
                    notes[i] = "; ".join(sorted(text))
            else:
                reasons[i] = why.most_common(1)[0][0]
        return Scores(values, reasons, notes)

    def draws(self, batch: Batch, found: Found) -> Array:
        """Return the single ratings, samples × draws; NaN where a reply has none."""
        values = np.full((len(batch), self.n), np.nan)
        for i in range(len(batch)):
            if batch.output[i] >= 0:
                for k, request in enumerate(self.drawn(self.example(batch, i))):
                    value = self.read(found[request.key], request).value
                    values[i, k] = np.nan if value is None else value
        return values

    def read(self, reply: Reply | Failure, request: Request) -> Parsed:
        """Return the rating in a reply; a mode that the server does not support is reported, never changed silently."""
        if isinstance(reply, Failure):
            return Parsed(None, reason=reply.reason)
        if self.mode == "logprobs":
            weighed = expected_rating(reply, self.scale)
            if weighed is not None:
                return Parsed(weighed, "logprobs")
        parsed = parse_by(self.pattern, reply.text, self.scale) if self.pattern else None
        parsed = parsed or parse_reply(
            reply.text, self.scale, code=reply.code, judged=request.judged_text(), aspect=self.aspect
        )
        if parsed.value is None and reply.finish == "length":
            parsed = Parsed(None, reason=f"{parsed.reason}: cut off after {reply.completion_tokens} tokens")
        if parsed.value is None:
            return self._filled(parsed, request)
        if self.mode == "logprobs":
            return replace(parsed, note=_no_logprobs(reply))
        if reply.code and parsed.how.partition(",")[0] not in ("code", "json", "pattern"):
            return replace(parsed, note=WITHOUT_CODE)
        if reply.dropped:
            return replace(parsed, note=f"without {', '.join(reply.dropped)}, which the server refused")
        return parsed

    @staticmethod
    def choice(reply: Reply, request: Request) -> float | None:
        """Return the choice in a reply to a comparison; None without a unique choice."""
        return read_choice(reply.text, code=reply.code, judged=request.judged_text())

    def _filled(self, parsed: Parsed, request: Request) -> Parsed:
        """Fill in a random rating for an unreadable reply, as Gao et al. (2025); only on request, and with a note."""
        if self.fill != "random":
            return parsed
        rng = np.random.default_rng(int.from_bytes(request.key[:8], "big"))
        points = self.scale.points()
        value = float(rng.choice(points)) if points else float(rng.uniform(self.scale.low, self.scale.high))
        return Parsed(value, "random", note="without a rating in the reply: a random one was filled in")

    def unread(self, batch: Batch, found: Found) -> dict[bytes, tuple[str, str]]:
        """Return the replies that could not be read, by key: the reason and the text."""
        plain, lost = replace(self, fill=""), {}
        for request in self.requests(batch):
            reply = found.get(request.key)
            if not isinstance(reply, Reply) or request.key in lost:
                continue
            if self.mode == "pairwise":
                why = "" if self.choice(reply, request) is not None else "no choice found"
            else:
                why = plain.read(reply, request).reason
            if why:
                lost[request.key] = why, reply.text
        return lost

    def comparisons(self, batch: Batch, found: Found) -> list[tuple[ShownPair, float | None, str]]:
        """Return each pair with the share of draws that the first one won, or None and the reason."""
        rows = []
        for pair in self.pairs(batch):
            read, why = [], ""
            for request in self.drawn(self._pair(batch, pair)):
                reply = found[request.key]
                choice = None if isinstance(reply, Failure) else self.choice(reply, request)
                if choice is None:
                    why = reply.reason if isinstance(reply, Failure) else "no choice found"
                else:
                    read.append(choice)
            rows.append((pair, math.fsum(read) / len(read) if read else None, why))
        return rows

    def _win_shares(self, batch: Batch, found: Found) -> Scores:
        won: list[list[float]] = [[] for _ in range(len(batch))]
        why: dict[int, str] = {}
        for pair, share, reason in self.comparisons(batch, found):
            for place, own in ((pair.first, share), (pair.second, None if share is None else 1 - share)):
                if own is None:
                    why[place] = reason
                else:
                    won[place].append(own)
        values = np.array([math.fsum(w) / len(w) if w else np.nan for w in won])
        reasons = {i: why.get(i, "no other output of its input") for i in range(len(batch)) if not won[i]}
        notes = {i: "some comparisons unscored" for i in why if won[i]}
        return Scores(values, reasons, notes)


def _no_logprobs(reply: Reply) -> str:
    """Return the reason why the rating is used as written."""
    if any(len(place) > 1 for place in reply.logprobs):
        return "no logprobs of whole ratings (several tokens): the rating as it was written"
    return "no logprobs from this server: the rating as it was written"


def _schema(analysis: bool) -> dict[str, Any]:
    parts: dict[str, Any] = {"analysis": {"type": "string"}} if analysis else {}
    parts["rating"] = {"type": "number"}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "judgment",
            "strict": True,
            "schema": {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False},
        },
    }
