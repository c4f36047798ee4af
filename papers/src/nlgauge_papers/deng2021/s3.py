"""S3 (Peyrard, Botschen and Gurevych 2017): Pyramid and responsiveness predicted from six comparisons with references.

Its authors publish the two regressors as pickled scikit-learn models. Nothing is unpickled here:
tools/s3_regressors.py, which the user runs, writes their numbers to a JSON file, and that is what this reads.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge import NlgaugeError
from nlgauge.metrics import (
    Batch,
    OnSamples,
    Usable,
    counted_overlap,
    metric,
    signature,
    stem,
    stop_signature,
    stop_words_of,
)
from nlgauge_papers.common import Array

FORMAT = "nlgauge-s3-1"
FEATURES = ("JS_eval_1", "JS_eval_2", "ROUGE_1_R", "ROUGE_1_R_WE", "ROUGE_2_R", "ROUGE_2_R_WE")
MATCH_COSINE = 0.8  # cosine from which two n-grams are the same
WORD = re.compile(r"\w+")
KERNELS: dict[str, Callable[[Array, Any], Array]] = {  # of scikit-learn, on dot products
    "linear": lambda dots, m: dots,
    "poly": lambda dots, m: (m["gamma"] * dots + m["coef0"]) ** m["degree"],
    "sigmoid": lambda dots, m: np.tanh(m["gamma"] * dots + m["coef0"]),
}
Gram = tuple[str, ...]
Vectors = Mapping[str, Array]


@metric(
    "s3",
    family="s3",
    bounds=(-math.inf, math.inf),
    year=2017,
    cite="peyrard-etal-2017-learning",
    weights="the authors' regressors as JSON (tools/s3_regressors.py) and word vectors as text, both by file",
)
class S3(OnSamples):
    """S3: Pyramid score (pyr) or responsiveness (resp), predicted from ROUGE-1 and 2, their forms on word vectors, and
    JS divergence.

    Six features as the authors' program computes them (Snowball stems, recall over all references together, n-grams
    with a cosine of at least .8 as the same, JS averaged over references), then their regressor. regressors: the file
    that tools/s3_regressors.py writes from the published ones. vectors: a text file, a word and its numbers a line
    (also .gz, .bz2); theirs are the dependency-based ones of Levy and Goldberg (2014), deps.words. stop: a file of
    words that JS leaves out; theirs are nltk's, ours without it.
    """

    target: Literal["pyr", "resp"] = "pyr"
    regressors: str = ""
    vectors: str = ""
    stop: str = ""

    def ready(self) -> None:
        """Raise an error, before any work, for missing or invalid files."""
        super().ready()
        for option, what in (
            ("regressors", "regressors, as tools/s3_regressors.py writes them"),
            ("vectors", "word vectors, a word and its numbers a line"),
        ):
            if not getattr(self, option).strip():
                raise NlgaugeError(f"s3: {option}='': name the file with the {what} (docs/metrics.md, S3).")
        self.regressor()
        if not _file(self.vectors).is_file():
            raise NlgaugeError(f"s3: vectors='{self.vectors}': no such file.")
        _ = self._stop

    @property
    def _stop(self) -> frozenset[str]:
        return stop_words_of(self.stop)

    def regressor(self) -> Mapping[str, Any]:
        """Return the regressor of the target."""
        path = _file(self.regressors)
        try:
            return read_regressors(str(path), path.stat().st_mtime_ns)[self.target]  # type: ignore[no-any-return]
        except OSError as error:
            raise NlgaugeError(f"s3: regressors='{self.regressors}': {error.strerror}.") from None

    @property
    def signature(self) -> str:
        return signature(
            target=self.target,
            regressors=hashed(self.regressors),
            vectors=hashed(self.vectors),
            stop=stop_signature(self.stop) or "nlgauge",
        )

    def values(self, batch: Batch, found: Usable) -> Sequence[float]:
        self.ready()
        rows: Array = batch.keep(
            ("s3", self.vectors, self.stop),
            lambda: features(found.samples, self._stop, functools.partial(read_vectors, self.vectors)),
        )
        return predicted(self.regressor(), rows)


def predicted(model: Mapping[str, Any], rows: Array) -> list[float]:
    """Predict by a support vector regression (a sum of kernels) or a linear regression, on features that may be scaled
    first.
    """
    x = (rows - np.array(model.get("shift", 0.0))) / np.array(model.get("scale", 1.0))
    if model["kind"] == "linear":
        return [float(v) for v in x @ np.array(model["coef"]) + model["intercept"]]
    support, weight = np.array(model["support_vectors"]), np.array(model["dual_coef"])
    if model["kernel"] == "rbf":
        near = np.exp(-model["gamma"] * ((x[:, None, :] - support[None]) ** 2).sum(axis=2))
    else:
        near = KERNELS[model["kernel"]](x @ support.T, model)
    return [float(v) for v in near @ weight + model["intercept"]]


def features(samples: Sequence[Any], stop: frozenset[str], vectors: Callable[[frozenset[str]], Vectors]) -> Array:
    """Return the six features of each sample, in the order of their names."""
    plain = [[words(s.output), *map(words, s.references)] for s in samples]
    available = vectors(frozenset(w for texts in plain for text in texts for w in text))
    rows_of = functools.partial(unit_sums, available)
    stems = functools.cache(stem)
    rows = []
    for texts in plain:
        stemmed = [[stems(w) for w in text] for text in texts]
        of = {}
        for n in (1, 2):
            of[f"JS_eval_{n}"] = float(np.mean([divergence(stemmed[0], r, n, stop) for r in stemmed[1:]]))
            of[f"ROUGE_{n}_R"] = recall(stemmed, n, lambda a, b: sum((a & b).values()))
            of[f"ROUGE_{n}_R_WE"] = recall(texts, n, lambda a, b: counted_overlap(a, b, MATCH_COSINE, rows_of))
        rows.append([of[name] for name in FEATURES])
    return np.array(rows, np.float64).reshape(-1, len(FEATURES))


def words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return [w.lower() for w in WORD.findall(text)]


def grams(text: Sequence[str], n: int) -> list[Gram]:
    """Return the runs of n words."""
    return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]


def recall(texts: Sequence[Sequence[str]], n: int, matches: Callable[[Counter[Gram], Counter[Gram]], float]) -> float:
    """Compute the matched n-grams of all references divided by all their n-grams."""
    own = Counter(grams(texts[0], n))
    each = [Counter(grams(text, n)) for text in texts[1:]]
    total = sum(c.total() for c in each)
    return sum(matches(own, c) for c in each) / total if total else 0.0


def divergence(output: Sequence[str], reference: Sequence[str], n: int, stop: frozenset[str]) -> float:
    """Compute the Jensen–Shannon divergence (natural logarithm) of n-grams that do not consist of stop words only."""
    shares = []
    for text in (output, reference):
        selected = [g for g in grams(text, n) if any(w not in stop for w in g)]
        shares.append({g: c / len(selected) for g, c in Counter(selected).items()})
    middle = {g: (shares[0].get(g, 0.0) + shares[1].get(g, 0.0)) / 2 for g in {**shares[0], **shares[1]}}
    return sum(f * math.log(f / middle[g]) for share in shares for g, f in share.items()) / 2


def unit_sums(vectors: Vectors, every: Iterable[Gram]) -> Array:
    """Sum the word vectors of each n-gram and normalize to length 1; zeros if a word has no vector."""
    size = len(next(iter(vectors.values()))) if vectors else 1
    rows = np.array([sum(vectors[w] for w in g) if all(w in vectors for w in g) else np.zeros(size) for g in every])
    result: Array = rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
    return result


@functools.lru_cache(4)
def read_regressors(path: str, changed: int) -> Any:
    """Read and check the file that tools/s3_regressors.py wrote."""
    try:
        result = json.loads(Path(path).read_text("utf-8"))
        if result["format"] != FORMAT or tuple(result["features"]) != FEATURES:
            raise ValueError("of another format or with other features")
        for target in ("pyr", "resp"):
            model = result[target]
            if model["kind"] == "svr" and model["kernel"] not in (*KERNELS, "rbf"):
                raise ValueError(f"kernel {model['kernel']}")
            if not np.isfinite(predicted(model, np.zeros((1, len(FEATURES))))).all():
                raise ValueError("numbers that are not finite")
    except (ValueError, KeyError, TypeError, IndexError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)[:120]
        raise NlgaugeError(f"s3: regressors='{path}': not what tools/s3_regressors.py writes ({what}).") from None
    return result


def read_vectors(path: str, wanted: frozenset[str]) -> Vectors:
    """Read the vectors of these words; if a word occurs twice, the last vector counts."""
    results: dict[str, Array] = {}
    size = 0
    for number, line in enumerate(_lines(path), 1):
        word, *numbers = line.rstrip().split(" ")
        if len(numbers) < 2 or word.lower() not in wanted:  # two numbers in the first line: how many there are
            continue
        try:
            vector = np.array([float(x) for x in numbers])
        except ValueError:
            raise NlgaugeError(f"s3: vectors='{path}', line {number}: expected a word and its numbers.") from None
        if size not in (0, len(vector)):
            raise NlgaugeError(f"s3: vectors='{path}', line {number}: {len(vector)} numbers, {size} before.")
        size, results[word.lower()] = len(vector), vector
    return results


def hashed(path: str) -> str:
    """Name of a file and a hash of its size, beginning and end; the name alone where it is not there."""
    file = _file(path)
    if not file.is_file():
        return file.name
    with file.open("rb") as opened:
        seen = hashlib.blake2b(str(size := file.stat().st_size).encode() + opened.read(1 << 20), digest_size=6)
        opened.seek(max(0, size - (1 << 20)))
        seen.update(opened.read())
    return f"{file.name}@{seen.hexdigest()}"


def _lines(path: str) -> Iterator[str]:
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(_file(path).suffix, open)
    try:
        with opener(_file(path), "rt", encoding="utf-8", errors="replace") as file:
            yield from file
    except (OSError, EOFError) as error:
        raise NlgaugeError(f"s3: vectors='{path}': {error}") from None


def _file(path: str) -> Path:
    return Path(path).expanduser()
