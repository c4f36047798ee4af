"""Scoring side by side with sacrebleu, rouge-score, nltk, pycocoevalcap and torchmetrics (if installed), in one run:
`python bench/scoring.py`.

Texts are drawn from a Zipf vocabulary with punctuation; an output is its reference with a third of the words changed
and some moved. Times are of the processor and include tokenising (nltk: by its own tokenizer; CIDEr: tokenised text on
both sides); compiling is done before. The libraries score fewer pairs and are compared per pair; the best of several
rounds counts on both sides, alternating, because machines are noisy.
`--pairs 20000 5000` sets our numbers of short (12 tokens) and long (60 tokens) pairs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable

import numpy as np

from nlgauge import registry
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec

LETTERS = "etaoinshrdlcumwfgypbvk"
TOGETHER = ["bleu", "rouge-1", "rouge-2", "rouge-l", "chrf"]
Texts = list[str]


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


def ours(specs: list[str], outputs: Texts, references: Texts, sources: Texts | None = None) -> float:
    """Seconds per pair."""
    begun = time.process_time()
    batch = Batch.from_columns(outputs, references=[[r] for r in references], source=sources)
    for spec in specs:
        metric_from_spec(spec).score(batch)
    return (time.process_time() - begun) / len(outputs)


def theirs(score: Callable[[str, str], object], outputs: Texts, references: Texts) -> float:
    begun = time.process_time()
    for output, reference in zip(outputs, references, strict=True):
        score(output, reference)
    return (time.process_time() - begun) / len(outputs)


def libraries() -> dict[str, tuple[list[str], Callable[[Texts, Texts], float]]]:
    """What is compared: our specs, and seconds per pair of the fastest library that does the same."""
    import sacrebleu
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.translate.lepor import sentence_lepor
    from nltk.translate.meteor_score import meteor_score
    from nltk.translate.nist_score import corpus_nist
    from pycocoevalcap.cider.cider import Cider
    from rouge_score.rouge_scorer import RougeScorer

    bleu, chrf = sacrebleu.BLEU(effective_order=True), sacrebleu.CHRF()
    ter, rouge = sacrebleu.TER(), RougeScorer(["rouge1", "rouge2", "rougeL"])

    def several(output: str, reference: str) -> None:
        bleu.sentence_score(output, [reference])
        chrf.sentence_score(output, [reference])
        rouge.score(reference, output)

    split = NLTKWordTokenizer().tokenize  # what nltk's own functions and examples use

    def nist(outputs: Texts, references: Texts) -> float:
        begun = time.process_time()
        corpus_nist([[split(r)] for r in references], [split(o) for o in outputs])
        return (time.process_time() - begun) / len(outputs)

    def cider(outputs: Texts, references: Texts) -> float:
        begun = time.process_time()
        Cider().compute_score({i: [r] for i, r in enumerate(references)}, {i: [o] for i, o in enumerate(outputs)})
        return (time.process_time() - begun) / len(outputs)

    class NoWordnet:
        """nltk's METEOR without synonyms, which would only make it slower."""

        def synsets(self, word: str) -> list[object]:
            return []

    def meteor(output: str, reference: str) -> None:
        meteor_score([split(reference)], split(output), wordnet=NoWordnet())

    def lepor(output: str, reference: str) -> None:
        sentence_lepor([reference], output, tokenizer=split)

    return {
        "BLEU + ROUGE-1/2/L + chrF": (TOGETHER, lambda o, r: theirs(several, o, r)),
        "TER": (["ter"], lambda o, r: theirs(lambda x, y: ter.sentence_score(x, [y]), o, r)),
        "NIST": (["nist"], nist),
        "CIDEr-D": (["cider-d(tokenize='none')"], cider),
        "LEPOR": (["lepor"], lambda o, r: theirs(lepor, o, r)),
        "METEOR (nltk)": (["meteor(preset='nltk', synonyms=False)"], lambda o, r: theirs(meteor, o, r)),
    } | torchmetrics()


def torchmetrics() -> dict[str, tuple[list[str], Callable[[Texts, Texts], float]]]:
    """BLEU, ROUGE and chrF by torchmetrics, text by text, as its values are of a corpus; left out where it is not
    installed.
    """
    try:
        from torchmetrics.functional.text import chrf_score, sacre_bleu_score
        from torchmetrics.functional.text.rouge import rouge_score
    except ImportError:
        print("torchmetrics is not installed: left out")
        return {}

    def score(output: str, reference: str) -> None:
        sacre_bleu_score([output], [[reference]])
        chrf_score([output], [[reference]])
        rouge_score(output, reference, rouge_keys=("rouge1", "rouge2", "rougeL"))

    return {"the first five, torchmetrics": (TOGETHER, lambda o, r: theirs(score, o, r))}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, nargs=2, default=[20_000, 5_000], metavar=("SHORT", "LONG"))
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--no-table", action="store_true", help="leave the table of all metrics out")
    asked = options.parse_args()
    sizes = {"12 tokens": (12, asked.pairs[0], 300), "60 tokens": (60, asked.pairs[1], 60)}
    texts = {name: pairs(n, words) for name, (words, n, _) in sizes.items()}
    print(f"{'µs per pair':28}" + "".join(f"{name:>12}{'library':>10}{'ratio':>8}" for name in sizes))
    for label, (specs, library) in libraries().items():
        line = f"{label:28}"
        for name, (_, _, few) in sizes.items():
            outputs, references = texts[name]
            ours(specs, outputs[:50], references[:50])  # compile, or load from the cache
            mine, other = [], []
            for turn in range(asked.rounds):
                mine.append(ours(specs, outputs, references))
                fresh = slice(turn * few, (turn + 1) * few)  # the libraries remember texts that they have seen
                with contextlib.redirect_stdout(io.StringIO()):
                    other.append(library(outputs[fresh], references[fresh]))
            line += f"{min(mine) * 1e6:12.2f}{min(other) * 1e6:10.1f}{min(other) / min(mine):8.0f}"
        print(line, flush=True)
    if not asked.no_table:
        table(texts)


def table(texts: dict[str, tuple[Texts, Texts]]) -> None:
    """Every metric of this folder alone, in pairs per second."""
    print(f"\n{'pairs per second':28}" + "".join(f"{name:>14}" for name in texts))
    for name in registry.names("metric"):
        if not type_is_quick(name):
            continue
        line = f"{name:28}"
        for outputs, references in texts.values():
            some = 2000
            try:
                ours([name], outputs[:20], references[:20], references[:20])
                parts = (outputs[:some], references[:some], references[:some])
                line += f"{1 / min(ours([name], *parts) for _ in range(3)):14,.0f}"
            except NeedsMissing:
                line += f"{'needs more':>14}"
        print(line, flush=True)


def type_is_quick(name: str) -> bool:
    facts = registry.get("metric", name).facts
    return facts.family in {
        "bleu",
        "rouge",
        "chrf",
        "ter",
        "nist",
        "meteor",
        "cider",
        "lepor",
        "overlap",
        "length",
        "js",
        "sari",
        "diversity",
        "extractive",
    }


if __name__ == "__main__":
    main()
