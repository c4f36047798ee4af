"""Word metrics beside other compiled libraries, in one run: `python -m bench compiled`.

rouge-score-rs, rouge-rust, fastchrf, bleuscore (Rust) and rapidfuzz (C++), each by its quickest door for many pairs;
one that is not installed has a line that says so (`pip install "nlgauge[bench]"`). Both sides score the same pairs,
made as in
`bench/scoring.py`; processor time on one thread with tokenising, the best of several rounds, alternating. Values must
agree or the run fails. A ratio below 1 means that the other one is ahead, and the line says it.
"""

from __future__ import annotations

import importlib.metadata
import os
import time
from collections.abc import Callable

os.environ["RAYON_NUM_THREADS"] = "1"  # before one of them starts its threads

import numpy as np

from bench.scoring import Texts, pairs
from nlgauge.metrics import Batch, metric_from_spec

ROUNDS = 5
SIZES = {12: 20_000, 60: 5_000, 400: 500, 1000: 200}  # tokens of a text: pairs
ROUGE = ["rouge-1", "rouge-2", "rouge-l"]
Values = list[np.ndarray]
Score = Callable[[Texts, Texts], Values]


def rouge_score_rs(*names: str) -> Score:
    from rouge_score_rs import rouge_scorer

    scorer = rouge_scorer.RougeScorer(list(names))

    def score(outputs: Texts, references: Texts) -> Values:
        found = scorer.score_batch(references, outputs)
        return [np.array([one[name].fmeasure for one in found]) for name in names]

    return score


def rouge_rust() -> Score:
    import fast_rouge

    def score(outputs: Texts, references: Texts) -> Values:
        found = fast_rouge.score_batch_flat(references, outputs)
        return [np.asarray(getattr(found, f"{name}_fmeasure")) for name in ("rouge1", "rouge2", "rougeL")]

    return score


def fastchrf() -> Score:
    from fastchrf import pairwise_chrf

    return lambda o, r: [np.ravel(pairwise_chrf([[x] for x in o], [[x] for x in r]))]


def bleuscore() -> Score:
    from bleuscore import compute

    def score(outputs: Texts, references: Texts) -> Values:
        found = [compute(predictions=[o], references=[[r]])["bleu"] for o, r in zip(outputs, references, strict=True)]
        return [100 * np.array(found)]

    return score


def rapidfuzz() -> Score:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    return lambda o, r: [cpdist(o, r, scorer=Levenshtein.distance, workers=1)]


LINES: list[tuple[str, list[str], str, Callable[[], Score]]] = [
    ("ROUGE-L", ["rouge-l"], "rouge-score-rs", lambda: rouge_score_rs("rougeL")),
    ("ROUGE-1, -2, -L", ROUGE, "rouge-score-rs", lambda: rouge_score_rs("rouge1", "rouge2", "rougeL")),
    ("ROUGE-1, -2, -L", ROUGE, "rouge-rust", rouge_rust),
    ("chrF", ["chrf"], "fastchrf", fastchrf),
    ("BLEU", ["bleu(smooth='none')"], "bleuscore", bleuscore),
    ("edits of characters", ["levenshtein(unit='char', normalize=False)"], "rapidfuzz", rapidfuzz),
]


def ours(specs: list[str]) -> Score:
    def score(outputs: Texts, references: Texts) -> Values:
        batch = Batch.from_columns(outputs, references=[[r] for r in references])
        return [metric_from_spec(spec).score(batch).values for spec in specs]

    return score


def seconds(score: Score, outputs: Texts, references: Texts) -> tuple[float, Values]:
    begun = time.process_time()
    values = score(outputs, references)
    return time.process_time() - begun, values


def main() -> None:
    print(f"{'µs per pair':22}{'beside':18}{'tokens':>7}{'pairs':>8}{'ours':>10}{'theirs':>10}{'ratio':>8}")
    texts = {tokens: pairs(n, tokens) for tokens, n in SIZES.items()}
    for what, specs, library, make in LINES:
        try:
            importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            print(f"{what:22}{library:18}is not installed: left out", flush=True)
            continue
        mine, theirs = ours(specs), make()
        for tokens, (outputs, references) in texts.items():
            few = slice(0, max(20, len(outputs) // 5))
            for score in (mine, theirs):
                score(outputs[few], references[few])
            best = [9e9, 9e9]
            for _ in range(ROUNDS):
                (a, x), (b, y) = seconds(mine, outputs, references), seconds(theirs, outputs, references)
                best = [min(best[0], a), min(best[1], b)]
            if any(np.abs(p - q).max() > 1e-9 * max(1.0, np.abs(q).max()) for p, q in zip(x, y, strict=True)):
                raise SystemExit(f"{what}: other values than {library}'s at {tokens} tokens")
            ours_now, theirs_now = (t / len(outputs) * 1e6 for t in best)
            ahead = f"  {library} is ahead" if theirs_now < ours_now else ""
            print(
                f"{what:22}{library:18}{tokens:>7}{len(outputs):>8,}{ours_now:>10.2f}{theirs_now:>10.2f}"
                f"{theirs_now / ours_now:>8.2f}{ahead}",
                flush=True,
            )


if __name__ == "__main__":
    main()
