"""How fast are the embedding metrics? Beside an aligner that encodes per example, and beside bert-score, in the same
run.

    NLGAUGE_DATA=… python bench/embedding.py [--quick] [--only shared|ctc|bertscore|memory]

Wall-clock and CPU time of this process, as the machine may be shared. Memory is the peak of a process of its own that
scores that many outputs and nothing else. Needs the extra `neural`, bert-score and SummEval.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import polars as pl

from nlgauge.datasets import load_set
from nlgauge.metrics import Batch, Metric, metric_from_spec, take
from nlgauge.models import encoder as encoders
from nlgauge.models.embeddings import BUDGET, embeddings
from nlgauge.models.encoder import encoder
from nlgauge.models.loading import folder_of
from nlgauge.models.tensors import by_length, cores
from nlgauge.scoring.score_batch import score_batch

CTC = ["ctc(aspect='consistency')", "ctc(aspect='relevance')"]


def timed(what: str, n: int, function: Callable[[], object], remark: str = "") -> tuple[float, float, object]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = function()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{what:<58} {wall:>8.1f} s wall {cpu:>8.1f} s CPU {n / cpu:>9.1f} per CPU s  {remark}", flush=True)
    return wall, cpu, found


def summeval(inputs: int) -> tuple[Batch, Callable[[int], Batch]]:
    samples = load_set("summeval").samples
    kept = samples["input"].unique(maintain_order=True).to_list()[:inputs]
    samples = samples.filter(samples["input"].is_in(kept))
    columns = [samples[c].to_list() for c in ("output", "source", "references")]

    def part(i: int) -> Batch:
        return Batch.from_columns([columns[0][i]], [columns[1][i]], None, [columns[2][i]])

    return Batch.from_columns(columns[0], columns[1], None, columns[2]), part


class _EveryLayer(dict[str, int]):
    """Every text wanted at every layer that a metric of the run uses."""

    bits = 0

    def get(self, text: str, other: Any = None) -> Any:
        return self.bits


def one_after_the_other(batch: Batch, metrics: list[Metric]) -> list[np.ndarray]:
    """As it was: a metric over all samples, then the next; each text through all layers of any; padded."""
    wanted = _EveryLayer()
    for metric in metrics:
        metric.prepare(batch)
    kept = embeddings(batch)
    for bits in kept.wanted.values():
        wanted.bits |= bits
    kept.wanted = wanted
    batches, encoders.equal_lengths = encoders.equal_lengths, lambda sizes: list(by_length(sizes, 2048))
    order = np.lexsort((batch.context, batch.source))
    found = [np.full(len(batch), np.nan) for _ in metrics]
    for values, metric in zip(found, metrics, strict=True):
        for at in range(0, len(order), 256):
            values[order[at : at + 256]] = metric.score(take(batch, order[at : at + 256])).values
    encoders.equal_lengths = batches
    return found


def shared(quick: bool) -> None:
    """BERTScore and CTC on SummEval: the way before, now, and now with fewer bits; values and correlations beside."""
    data = load_set("summeval")
    inputs = 13 if quick else 100
    people = data.ratings.group_by("system", "input", "aspect").agg(pl.col("value").mean())
    trained = [spec.replace(")", ", align='D')") for spec in CTC]
    for what, specs in {"bertscore, ctc E": ["bertscore", *CTC], "and ctc D": ["bertscore", *CTC, *trained]}.items():
        n = len(summeval(inputs)[0])
        ways: dict[str, Callable[[], list[np.ndarray]]] = {
            "before": lambda specs=specs: one_after_the_other(summeval(inputs)[0], list(map(metric_from_spec, specs)))
        }
        for bits in ("", "@int8", "@bf16"):
            encoder(f"minilm{bits}")
            own = [
                metric_from_spec(s.rstrip(")") + ("(" if "(" not in s else ", ") + f"encoder='minilm{bits}')")
                for s in specs
            ]
            ways[f"now{bits}"] = lambda own=own: [
                c.values
                for c in score_batch(
                    summeval(inputs)[0], own, engine=lambda metric, batch: metric.score(batch)
                ).values()
            ]
        found = {way: timed(f"{what}, {n} outputs × 11 references: {way}", n, run) for way, run in ways.items()}
        rows = data.samples.filter(
            pl.col("input").is_in(data.samples["input"].unique(maintain_order=True)[:inputs].implode())
        )
        for way, (_, cpu, values) in found.items():
            apart = max(np.abs(a - b).max() for a, b in zip(values, found["before"][2], strict=True))  # type: ignore[call-overload]
            moved = 0.0
            for aspect in ("consistency", "relevance"):
                of = rows.join(people.filter(pl.col("aspect") == aspect), on=["system", "input"], how="left")["value"]
                r = [[np.corrcoef(v, of.to_numpy())[0, 1] for v in found[w][2]] for w in (way, "before")]  # type: ignore[attr-defined]
                moved = max(moved, float(np.abs(np.subtract(*r)).max()))
            ratio = found["before"][1] / cpu
            print(f"  {way:<9} {ratio:.2f} times less CPU; values within {apart:.0e}, correlations within {moved:.4f}")


def ctc(quick: bool) -> None:
    batch, part = summeval(10 if quick else 100)
    metrics = [metric_from_spec(s) for s in CTC]

    def ours() -> list[np.ndarray]:
        for metric in metrics:
            metric.prepare(batch)
        return [metric.score(batch).values for metric in metrics]

    some = list(range(0, len(batch), max(1, len(batch) // (6 if quick else 12))))

    def per_example() -> list[list[float]]:
        return [[float(metric.score(part(i)).values[0]) for metric in metrics] for i in some]

    n = len(batch)
    _, cpu, found = timed(f"ctc consistency + relevance, {n} outputs, 11 references", n, ours)
    _, slow, alone = timed(f"the same, each example encoded alone ({len(some)} outputs)", len(some), per_example)
    apart = max(abs(found[m][i] - alone[k][m]) for k, i in enumerate(some) for m in range(2))  # type: ignore[index]
    print(f"  {slow / len(some) * n / cpu:.1f} times less CPU than per example; values within {apart:.0e}")


def bertscore(quick: bool) -> None:
    import bert_score

    batch, _ = summeval(4 if quick else 20)
    texts = batch.texts.list()
    first = [texts[batch.reference[s]] for s in batch.start[:-1].tolist()]
    outputs = [texts[o] for o in batch.output.tolist()]
    n = len(outputs)
    scorer = bert_score.BERTScorer(model_type=folder_of("minilm"), num_layers=5, device="cpu", nthreads=0)
    import torch

    torch.set_num_threads(cores())
    _, theirs, given = timed(f"bert-score, {n} outputs × 1 reference", n, lambda: scorer.score(outputs, first))
    one = Batch.from_columns(outputs, references=[[r] for r in first])
    _, ours, values = timed(
        f"nlgauge bertscore, {n} outputs × 1 reference",
        n,
        lambda: metric_from_spec("bertscore(layer=5)").score(one).values,
    )
    print(
        f"  {theirs / ours:.1f} times less CPU; F apart by up to {np.abs(values - given[2].numpy()).max():.0e} "
        "(bert-score moves with batch mates)"
    )  # type: ignore[index]
    lists = [[texts[r] for r in batch.reference[a:b].tolist()] for a, b in pairwise(batch.start.tolist())]
    _, theirs, _ = timed(f"bert-score, {n} outputs × 11 references", 11 * n, lambda: scorer.score(outputs, lists))
    _, ours, _ = timed(
        f"nlgauge bertscore, {n} outputs × 11 references",
        11 * n,
        lambda: metric_from_spec("bertscore(layer=5)").score(batch).values,
    )
    print(f"  {theirs / ours:.1f} times less CPU")
    per_system(scorer, 2 if quick else 5)


def per_system(scorer: Any, inputs: int) -> None:
    """Texts that come again in another call: bert-score, called for one system after the other, reads the references
    anew.
    """
    batch, _ = summeval(inputs)
    texts, start = batch.texts.list(), batch.start.tolist()
    outputs = [texts[o] for o in batch.output.tolist()]
    lists = [[texts[r] for r in batch.reference[a:b].tolist()] for a, b in pairwise(start)]
    systems = len(outputs) // inputs
    calls = [slice(s, None, systems) for s in range(systems)]
    n = sum(map(len, lists))
    _, theirs, _ = timed(
        f"bert-score, {len(outputs)} outputs × 11, a call per system",
        n,
        lambda: [scorer.score(outputs[c], lists[c]) for c in calls],
    )
    _, ours, _ = timed(
        "nlgauge bertscore, the same pairs", n, lambda: metric_from_spec("bertscore(layer=5)").score(batch).values
    )
    print(f"  {theirs / ours:.1f} times less CPU")


def alone(kind: str, inputs: int) -> None:
    """Score in this process only, then say how much memory it took at most."""
    batch, _ = summeval(inputs)
    encoder()
    loaded = _peak()
    metrics = [metric_from_spec(s) for s in (CTC if kind == "ctc" else ["bertscore"])]
    for metric in metrics:
        metric.prepare(batch)
    cpu = time.process_time()
    for metric in metrics:
        metric.score(batch)
    print(len(batch), loaded, _peak(), time.process_time() - cpu)


def _peak() -> float:
    """Gigabytes. Linux hands ru_maxrss of a parent on to its child, so its own count is read; macOS counts bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        return float(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1e6  # type: ignore[index]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e9 if sys.platform == "darwin" else 1e6)


def memory(quick: bool) -> None:
    print("\npeak memory of a fresh process, GB      outputs  texts loaded   after scoring    growth   CPU s")
    for kind in ("ctc", "bertscore"):
        for inputs in (2, 5, 10) if quick else (25, 50, 100):
            run = [sys.executable, __file__, "--alone", kind, "--inputs", str(inputs)]
            said = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
            n, loaded, peak, cpu = int(said[-4]), *map(float, said[-3:])
            what = "ctc consistency + relevance, 11 refs" if kind == "ctc" else "bertscore, 11 refs"
            print(f"{what:<38} {n:>8} {loaded:>13.2f} {peak:>15.2f} {peak - loaded:>9.2f} {cpu:>7.1f}", flush=True)
    print(f"vectors kept at most: {BUDGET / 1e9:.1f} GB (NLGAUGE_EMBEDDING_MB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    parser.add_argument("--only", choices=["shared", "ctc", "bertscore", "memory"], help="only this part")
    parser.add_argument("--alone", choices=["ctc", "bertscore"], help=argparse.SUPPRESS)
    parser.add_argument("--inputs", type=int, default=10, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        alone(given.alone, given.inputs)
        return
    quick = given.quick
    import torch
    import transformers

    print(
        f"Python {platform.python_version()}, torch {torch.__version__}, transformers "
        f"{transformers.__version__}, {cores()} cores\n"
    )
    if given.only in (None, "ctc", "bertscore"):
        encoder()
    if given.only in (None, "shared"):
        shared(quick)
    if given.only in (None, "ctc"):
        ctc(quick)
    if given.only in (None, "bertscore"):
        bertscore(quick)
    if given.only in (None, "memory"):
        memory(quick)


if __name__ == "__main__":
    main()
