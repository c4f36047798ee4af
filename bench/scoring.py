"""Speed of the word metrics: through `nlgauge.score`, next to other libraries, in one run: `python -m bench scoring`.

Each line names the function of the other library; ours is `nlgauge.score(outputs, metrics, ref=references)` with the
scores of each metric as an array. Each library scores the same pairs of texts by its fastest function for many pairs,
or in a loop if it has none. Times are CPU times including tokenization, the best of several rounds, with the two
libraries alternating. A ratio is the library's time divided by ours, so that the library is faster if it is below 1.
If both libraries compute the same score, the values are compared, and the run fails if they differ.

Two kinds of texts: fixed ones, drawn from a Zipf vocabulary with punctuation (an output is its reference with a third of
the words changed and some moved), and real ones (outputs and references of SummEval, joined and cut to the lengths
named; where NLGAUGE_DATA does not have them, those of the example). A library that is not installed is
listed as such (`pip install "nlgauge[bench]"`).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import io
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before one of them starts its threads

import numpy as np

import nlgauge as ng
from nlgauge import registry
from nlgauge.datasets import load_set
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

LETTERS = "etaoinshrdlcumwfgypbvk"
TOGETHER = ["bleu", "rouge-1", "rouge-2", "rouge-l", "chrf"]
ROUGE = ["rouge-1", "rouge-2", "rouge-l"]
EDITS = "levenshtein(unit='char', normalize=False)"
SIZES = {12: 2000, 60: 600, 400: 120, 2000: 25}  # tokens of a text: pairs
QUICK = {"bleu", "rouge", "chrf", "ter", "nist", "meteor", "cider", "lepor", "overlap", "length", "js", "sari"}
QUICK |= {"diversity", "extractive"}
Texts = list[str]
Values = list[np.ndarray]
Score = Callable[[Texts, Texts], Values]


def pairs(n: int, words: int, seed: int = 1) -> tuple[Texts, Texts]:
    """Outputs and references of about that many 13a tokens."""
    rng = np.random.default_rng(seed)
    letters = np.array(list(LETTERS))
    weights = 1 / np.arange(3, len(letters) + 3)
    vocabulary = ["".join(rng.choice(letters, size, p=weights / weights.sum())) for size in rng.integers(1, 10, 8000)]
    ranks = 1 / np.arange(1, 8001) ** 1.0
    drawn = rng.choice(8000, (n, words - 1), p=ranks / ranks.sum())
    changed = np.where(rng.random(drawn.shape) < 0.3, rng.choice(8000, drawn.shape, p=ranks / ranks.sum()), drawn)
    swapped = changed.copy()
    at = rng.integers(0, max(1, words - 4), n)
    for row, k in enumerate(at):
        swapped[row, k : k + 3] = changed[row, [k + 1, k + 2, k][: len(swapped[row, k : k + 3])]]

    def text(row: np.ndarray) -> str:
        return " ".join(vocabulary[k] for k in row).capitalize() + "."

    return [text(r) for r in swapped], [text(r) for r in drawn]


def real_pairs(n: int, words: int) -> tuple[Texts, Texts]:
    """The same of real texts: consecutive outputs, and their references, joined and cut to that many words."""
    try:
        samples = load_set("summeval").samples
    except NlgaugeError:
        samples = ng.example().samples
    outputs = " ".join(samples["output"].to_list()).split()
    references = " ".join(refs[0] for refs in samples["references"].to_list()).split()
    most = min(len(outputs), len(references)) - words
    starts = np.linspace(0, most, n).astype(int).tolist()
    return tuple([" ".join(side[s : s + words]) for s in starts] for side in (outputs, references))  # type: ignore[return-value]


def ours(specs: list[str]) -> Score:
    def score(outputs: Texts, references: Texts) -> Values:
        scored = ng.score(outputs, specs, ref=references, src=references if "sari" in specs else None, workers=1)
        return [scored.values(str(metric_from_spec(spec))) for spec in specs]

    return score


def inner(specs: list[str]) -> Score:
    """Without the plan, missing texts and failures that `nlgauge.score` looks after."""

    def score(outputs: Texts, references: Texts) -> Values:
        batch = Batch.from_columns(outputs, references=[[r] for r in references])
        return [metric_from_spec(spec).score(batch).values for spec in specs]

    return score


# --- other libraries ---


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


def rouge_score() -> Score:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"])

    def score(outputs: Texts, references: Texts) -> Values:
        found = [scorer.score(r, o) for o, r in zip(outputs, references, strict=True)]
        return [np.array([one[name].fmeasure for one in found]) for name in ("rouge1", "rouge2", "rougeL")]

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


def sacrebleu(name: str) -> Score:
    import sacrebleu as library

    metric = library.BLEU(effective_order=True) if name == "BLEU" else getattr(library, name)()
    return lambda o, r: [np.array([metric.sentence_score(x, [y]).score for x, y in zip(o, r, strict=True)])]


def nltk(name: str) -> Score:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.lepor import sentence_lepor
    from nltk.translate.meteor_score import meteor_score
    from nltk.translate.nist_score import corpus_nist

    split = NLTKWordTokenizer().tokenize  # what nltk's own functions and examples use

    class NoWordnet:
        """nltk's METEOR without synonyms, which would only make it slower."""

        def synsets(self, word: str) -> list[object]:
            return []

    def score(outputs: Texts, references: Texts) -> Values:
        if name == "corpus_nist":
            corpus_nist([[split(r)] for r in references], [split(o) for o in outputs])
            return []
        for output, reference in zip(outputs, references, strict=True):
            if name == "meteor_score":
                meteor_score([split(reference)], split(output), wordnet=NoWordnet())
            else:
                sentence_lepor([reference], output, tokenizer=split)
        return []

    return score


def pycocoevalcap() -> Score:
    from pycocoevalcap.cider.cider import Cider

    def score(outputs: Texts, references: Texts) -> Values:
        by_number = [{i: [text] for i, text in enumerate(side)} for side in (references, outputs)]
        Cider().compute_score(*by_number)
        return []

    return score


# What is measured, our specs, the library, its function, and one pair in how many the library scores, where it is slow.
LINES: list[tuple[str, list[str], str, str, Callable[[], Score], int]] = [
    ("ROUGE-L", ["rouge-l"], "rouge-score-rs", "score_batch", partial(rouge_score_rs, "rougeL"), 1),
    ("ROUGE-1, -2, -L", ROUGE, "rouge-score-rs", "score_batch", partial(rouge_score_rs, "rouge1", "rouge2", "rougeL"), 1),
    ("ROUGE-1, -2, -L", ROUGE, "rouge-rust", "score_batch_flat", rouge_rust, 1),
    ("ROUGE-1, -2, -L", ROUGE, "rouge-score", "RougeScorer.score", rouge_score, 10),
    ("edits of characters", [EDITS], "rapidfuzz", "process.cpdist", rapidfuzz, 1),
    ("BLEU", ["bleu(smooth='none')"], "bleuscore", "compute", bleuscore, 1),
    ("BLEU", ["bleu"], "sacrebleu", "sentence_score", partial(sacrebleu, "BLEU"), 10),
    ("chrF", ["chrf"], "fastchrf", "pairwise_chrf", fastchrf, 5),
    ("chrF", ["chrf"], "sacrebleu", "sentence_score", partial(sacrebleu, "CHRF"), 10),
    ("TER", ["ter"], "sacrebleu", "sentence_score", partial(sacrebleu, "TER"), 10),
    ("NIST", ["nist"], "nltk", "corpus_nist", partial(nltk, "corpus_nist"), 10),
    ("LEPOR", ["lepor"], "nltk", "sentence_lepor", partial(nltk, "sentence_lepor"), 10),
    ("METEOR, nltk's rules", ["meteor(preset='nltk', synonyms=False)"], "nltk", "meteor_score", partial(nltk, "meteor_score"), 10),
    ("CIDEr-D, split at spaces", ["cider-d(tokenize='none')"], "pycocoevalcap", "compute_score", pycocoevalcap, 1),
]  # fmt: skip
ALONE = {"METEOR 1.5": "meteor", "METEOR 1.5, no synonyms": "meteor(synonyms=False)", "CIDEr-D": "cider-d"}


def best(scores: list[tuple[Score, Texts, Texts]], rounds: int) -> tuple[list[float], list[Values]]:
    """CPU seconds per pair of each side, the best of several rounds in turn, and what they gave."""
    seconds, values = [9e9] * len(scores), [[]] * len(scores)
    for _ in range(rounds):
        for k, (score, outputs, references) in enumerate(scores):
            begun = time.process_time()
            values[k] = score(outputs, references)
            seconds[k] = min(seconds[k], (time.process_time() - begun) / len(outputs))
    return seconds, values


def side_by_side(texts: dict[int, tuple[Texts, Texts]], rounds: int) -> None:
    head = f"{'µs per pair':26}{'compared with':32}{'tokens':>7}{'pairs':>7}{'ours':>10}{'theirs':>11}{'ratio':>9}"
    print(head)
    for what, specs, library, function, make, share in LINES:
        try:
            importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            print(f"{what:26}{library} is not installed: left out", flush=True)
            continue
        theirs = make()
        for tokens, (outputs, references) in texts.items():
            few = max(5, len(outputs) // share)
            if tokens > (60 if what == "TER" else 400) and share > 1:
                continue  # up to seconds per pair
            sides = [(ours(specs), outputs, references), (theirs, outputs[:few], references[:few])]
            with contextlib.redirect_stdout(io.StringIO()):
                (mine, other), (x, y) = best(sides, rounds)
            if share > 1 and len(y) and specs != ["nist"]:
                x = [column[:few] for column in x]
            if any(np.abs(p - q).max() > 1e-9 * max(1.0, np.abs(q).max()) for p, q in zip(x, y, strict=False)):
                raise SystemExit(f"{what}: other scores than {library}'s at {tokens} tokens")
            ahead = f"  {library} is ahead" if other < mine else ""
            print(
                f"{what:26}{library + ' ' + function:32}{tokens:>7}{len(outputs):>7,}{mine * 1e6:>10.2f}"
                f"{other * 1e6:>11.2f}{other / mine:>9.2f}{ahead}",
                flush=True,
            )
    for what, spec in ALONE.items():
        for tokens, (outputs, references) in texts.items():
            if tokens <= 400:
                (mine,), _ = best([(ours([spec]), outputs, references)], rounds)
                print(f"{what:26}{'(alone)':32}{tokens:>7}{len(outputs):>7,}{mine * 1e6:>10.2f}", flush=True)


def one_call(outputs: Texts, references: Texts, rounds: int) -> None:
    """What a call costs: one pair, and 1,000 pairs next to the inner batch."""
    print(
        f"\n{'µs per call, 12 tokens':26}{'one pair: score':>17}{'metric(…)':>12}{'1,000: score':>15}{'inner':>9}{'ratio':>8}"
    )
    for what, specs in {
        **{name: [name] for name in ("rouge-1", "rouge-l", "bleu", "chrf", "ter")},
        "ROUGE-1, -2, -L": ROUGE,
        "edits of characters": [EDITS],
    }.items():
        metric = metric_from_spec(specs[0])
        some = (outputs[:1], references[:1])
        calls = [(ours(specs), *some), (lambda o, r, m=metric: [m(o, r)], *some)]
        (pair, called), _ = best(calls, 300 * rounds)
        (mine, batch), _ = best([(ours(specs), outputs, references), (inner(specs), outputs, references)], 8 * rounds)
        print(
            f"{what:26}{pair * 1e6:>17.0f}{called * 1e6:>12.0f}{mine * 1e6 * len(outputs):>15,.0f}"
            f"{batch * 1e6 * len(outputs):>9,.0f}{mine / batch:>8.2f}",
            flush=True,
        )
    theirs = {"rouge-score": rouge_score, "sacrebleu": partial(sacrebleu, "BLEU"), "rouge-score-rs": LINES[0][4]}
    for library, make in theirs.items():
        with contextlib.suppress(ImportError):
            (pair,), _ = best([(make(), outputs[:1], references[:1])], 100 * rounds)
            print(f"{'(' + library + ')':26}{pair * 1e6:>17.0f}", flush=True)


def table(texts: dict[int, tuple[Texts, Texts]]) -> None:
    """Every word metric alone, in pairs per second."""
    print(f"\n{'pairs per second':28}" + "".join(f"{f'{tokens} tokens':>14}" for tokens in texts))
    for name in registry.names("metric"):
        if registry.get("metric", name).facts.family not in QUICK:
            continue
        line = f"{name:28}"
        for outputs, references in texts.values():
            try:
                scored = partial(ng.score, ref=references, src=references, workers=1)
                score: Any = lambda o, r, name=name, scored=scored: [scored(o, name).values()]  # noqa: E731
                (mine,), _ = best([(score, outputs, references)], 3)
                line += f"{1 / mine:14,.0f}"
            except NeedsMissing:
                line += f"{'needs more':>14}"
        print(line, flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--share", type=float, default=1.0, help="of the pairs, for a short look")
    asked = options.parse_args()
    for kind, make in {"fixed texts": pairs, "real texts": real_pairs}.items():
        texts = {tokens: make(max(10, int(n * asked.share)), tokens) for tokens, n in SIZES.items()}
        print(f"{kind}\n{'-' * len(kind)}")
        side_by_side(texts, asked.rounds)
        one_call(*make(1000, 12), asked.rounds)
        print(flush=True)
    table({tokens: pairs(int(500 * asked.share), tokens) for tokens in (12, 60)})


if __name__ == "__main__":
    main()
