"""S3: its features by a plain second hand, its regressors against scikit-learn's own predictions, and no pickle opened."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import math
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.text.stopwords import STOP
from nlgauge_papers.deng2021.s3 import FEATURES, FORMAT, features, read_vectors

PLACE = Path(__file__).parent.parent.parent / "tools" / "s3_regressors.py"
SPEC = importlib.util.spec_from_file_location("s3_regressors", PLACE)
assert SPEC and SPEC.loader
tool: Any = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)
OUTPUTS = [
    "Glaciers are thinning and ice shelves collapse.",
    "The ice melts; the ice is melting!",
    "tourism",
    "of the and",
    "Permafrost thawed in Alaska, and lakes shrank in Siberia in summer.",
]
REFERENCES = [
    ["Ice shelves collapsed, glaciers thinned.", "The glacier is thinner now."],
    ["Ice melts in the Arctic."],
    ["Tourists come.", "Tourism suffers from it."],
    ["the end"],
    ["Siberian lakes disappeared; permafrost is thawing.", "Lakes dry up.", "In Alaska it thaws in summer."],
]
NEAR = {"melts": "melting", "tourists": "tourism", "collapse": "collapsed"}


def made_vectors(path: Path) -> Path:
    rng = np.random.default_rng(5)
    words = {w for text in [*OUTPUTS, *(r for refs in REFERENCES for r in refs)] for w in text.lower().split()}
    table = {w.strip(".,;!"): rng.normal(size=20) for w in sorted(words)}
    for a, b in NEAR.items():
        table[a] = table[b] + 0.2 * rng.normal(size=20)
    del table["siberian"]
    lines = [f"{w} {' '.join(f'{x:.6f}' for x in v)}" for w, v in table.items()]
    path.write_text("\n".join([f"{len(table)} 20", *lines, "Ice " + " ".join(["0.5"] * 20)]) + "\n")
    return path


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    return str(made_vectors(tmp_path / "deps.words"))


def samples() -> Any:
    from nlgauge.metrics.batch import readable

    return readable(Batch.from_columns(OUTPUTS, references=REFERENCES), frozenset({"output", "references"})).samples


# --- features ---


def plainly(output: str, references: list[str], vectors: dict[str, Any], stop: frozenset[str]) -> dict[str, float]:
    """As the authors' program describes them, n-gram by n-gram."""
    import re

    from nltk.stem.snowball import SnowballStemmer

    stemmer = SnowballStemmer("english")

    def pieces(text: str, stem: bool) -> list[str]:
        return [(stemmer.stem(w) if stem else w).lower() for w in re.findall(r"\w+", text)]

    def counts(words: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(zip(*(words[k:] for k in range(n)), strict=False))

    def vector(gram: tuple[str, ...]) -> Any:
        return sum(vectors[w] for w in gram) if all(w in vectors for w in gram) else None

    def near(a: tuple[str, ...], b: tuple[str, ...]) -> float:
        if a == b:
            return 1.0
        u, v = vector(a), vector(b)
        return 0.0 if v is None or u is None else float(u @ v / math.sqrt(u @ u) / math.sqrt(v @ v))

    found = {}
    for n in (1, 2):
        hits, soft, total, js = 0, 0, 0, 0.0
        for reference in references:
            mine, theirs = counts(pieces(output, True), n), counts(pieces(reference, True), n)
            hits += sum(min(c, theirs[g]) for g, c in mine.items())
            total += sum(theirs.values())
            p, q = (
                {g: c / sum(k.values()) for g, c in k.items()}
                for k in ({g: c for g, c in both.items() if not all(w in stop for w in g)} for both in (mine, theirs))
            )
            for share in (p, q):
                js += sum(f * math.log(f / ((p.get(g, 0) + q.get(g, 0)) / 2)) for g, f in share.items()) / 2
            left = dict(counts(pieces(reference, False), n))
            for gram, times in counts(pieces(output, False), n).items():
                if left:
                    best = max(left, key=lambda k: near(gram, k))  # the first of equals
                    if near(gram, best) >= 0.8:
                        taken = min(times, left[best])
                        soft += taken
                        left[best] -= taken
                        if not left[best]:
                            del left[best]
        found |= {
            f"ROUGE_{n}_R": hits / total if total else 0.0,
            f"ROUGE_{n}_R_WE": soft / total if total else 0.0,
            f"JS_eval_{n}": js / len(references),
        }
    return found


def test_the_features_are_those_of_the_description(vectors: str) -> None:
    pytest.importorskip("nltk")
    found = features(samples(), STOP, lambda words: read_vectors(vectors, words))
    every = read_vectors(vectors, frozenset(open(vectors).read().split()))  # noqa: PTH123, SIM115
    for row, output, references in zip(found, OUTPUTS, REFERENCES, strict=True):
        wanted = plainly(output, references, dict(every), STOP)
        assert dict(zip(FEATURES, row, strict=True)) == pytest.approx(wanted, abs=1e-12)
    assert (found[:, FEATURES.index("ROUGE_1_R_WE")] != found[:, FEATURES.index("ROUGE_1_R")]).any()


def test_words_near_each_other_match_and_a_word_twice_has_its_last_vector(vectors: str) -> None:
    found = features(samples(), STOP, lambda words: read_vectors(vectors, words))
    tourism = dict(zip(FEATURES, found[2], strict=True))
    assert tourism["ROUGE_1_R_WE"] == pytest.approx(2 / 6)  # tourists, tourism, of six words
    assert np.array_equal(read_vectors(vectors, frozenset({"ice"}))["ice"], np.full(20, 0.5))


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_packed_vectors_are_read_too(suffix: str, vectors: str, tmp_path: Path) -> None:
    packed = tmp_path / f"deps.words{suffix}"
    packed.write_bytes({".gz": gzip, ".bz2": bz2}[suffix].compress(Path(vectors).read_bytes()))
    plain, other = (read_vectors(p, frozenset({"lakes", "x"})) for p in (vectors, str(packed)))
    assert list(plain) == list(other) == ["lakes"]
    assert np.array_equal(plain["lakes"], other["lakes"])


# --- regressors: scikit-learn is the oracle ---


def estimators() -> dict[str, Any]:
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    from sklearn.svm import SVR, LinearSVR

    return {
        "rbf": SVR(C=2.0, gamma=0.7),
        "auto": SVR(gamma="auto"),
        "scale": SVR(),
        "linear": SVR(kernel="linear"),
        "poly": SVR(kernel="poly", degree=2, coef0=0.3),
        "sigmoid": SVR(kernel="sigmoid", gamma=0.1, coef0=0.2),
        "ridge": Ridge(),
        "linear svr": LinearSVR(max_iter=100_000),
        "search": GridSearchCV(SVR(), {"C": [0.5, 3.0]}, cv=2),
        "scaled": make_pipeline(StandardScaler(), SVR(gamma=0.5)),
        "min max": make_pipeline(MinMaxScaler(), SVR()),
    }


@pytest.fixture
def trained() -> Any:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(1)
    x = rng.random((40, 6))
    y = np.sin(3 * x[:, 0]) + x @ rng.normal(size=6)
    return {name: model.fit(x, y) for name, model in estimators().items()}


def converted(pyr: Any, resp: Any, folder: Path, protocols: tuple[int, int] = (0, 4)) -> str:
    for name, model, protocol in (("pyr", pyr, protocols[0]), ("resp", resp, protocols[1])):
        (folder / name).write_bytes(pickle.dumps(model, protocol=protocol))
    assert tool.main([str(folder / "pyr"), str(folder / "resp"), "-o", str(folder / "s3.json")]) == 0
    return str(folder / "s3.json")


@pytest.mark.parametrize("name", list(estimators()) if importlib.util.find_spec("sklearn") else ["rbf"])
def test_predictions_are_those_of_scikit_learn(name: str, trained: Any, vectors: str, tmp_path: Path) -> None:
    file = converted(trained[name], trained["rbf"], tmp_path)
    rows = features(samples(), STOP, lambda words: read_vectors(vectors, words))
    batch = Batch.from_columns(OUTPUTS, references=REFERENCES)
    for target, model in (("pyr", trained[name]), ("resp", trained["rbf"])):
        metric = metric_from_spec(f"s3(target={target!r}, regressors={file!r}, vectors={vectors!r})")
        metric.ready()
        assert np.allclose(metric.score(batch).values, model.predict(rows), rtol=0, atol=1e-9)


def test_every_protocol_of_pickles_is_read(trained: Any, tmp_path: Path) -> None:
    read = []
    for protocols in ((0, 1), (2, 3), (4, 5)):
        read.append(json.loads(Path(converted(trained["scaled"], trained["scaled"], tmp_path, protocols)).read_text()))
    assert read[0] == read[1] == read[2]
    assert read[0]["pyr"] == read[0]["resp"]


def test_a_pickle_that_would_run_something_is_refused(
    trained: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"

    class Evil:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(made),))

    trained["rbf"].evil_ = Evil()
    for name, content in (("a", trained["rbf"]), ("b", Evil()), ("c", [Evil()])):
        (tmp_path / name).write_bytes(pickle.dumps(content))
        assert tool.main([str(tmp_path / name), str(tmp_path / name), "-o", str(tmp_path / "out.json")]) == 2
        assert "not converted: it names posix.mkdir" in capsys.readouterr().err.replace("nt.mkdir", "posix.mkdir")
    assert not made.exists()
    assert not (tmp_path / "out.json").exists()
    pickle.loads((tmp_path / "b").read_bytes())  # it would have
    assert made.exists()


def test_what_is_no_regressor_is_said(trained: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(2).random((20, 5))
    for name, model, said in (
        ("tree", Holds(trained["rbf"]), "Holds"),
        ("five", estimators()["rbf"].fit(x, x[:, 0]), "has 5 numbers, 6 are expected"),
        ("nothing", {}, "a dict, which is neither"),
    ):
        (tmp_path / name).write_bytes(pickle.dumps(model))
        assert tool.main([str(tmp_path / name), str(tmp_path / name), "-o", str(tmp_path / "out.json")]) == 2
        assert said in capsys.readouterr().err


class Holds:
    def __init__(self, model: Any) -> None:
        self.model = model


def test_files_that_are_missing_or_wrong_get_one_line(vectors: str, tmp_path: Path) -> None:
    good = tmp_path / "good.json"
    linear = {"kind": "linear", "coef": [1.0] * 6, "intercept": 0.0}
    good.write_text(json.dumps({"format": FORMAT, "features": FEATURES, "pyr": linear, "resp": linear}))
    for spec, said in [
        ("s3", "regressors='': name the file"),
        (f"s3(regressors={str(good)!r})", "vectors='': name the file"),
        (f"s3(regressors='nowhere.json', vectors={vectors!r})", "No such file"),
        (f"s3(regressors={str(good)!r}, vectors='nowhere')", "no such file"),
        (f"s3(regressors={vectors!r}, vectors={vectors!r})", r"not what tools/s3_regressors\.py writes"),
        (f"s3(regressors={str(good)!r}, vectors={vectors!r}, stop='nowhere')", "stop='nowhere'"),
    ]:
        with pytest.raises(NlgaugeError, match=said):
            metric_from_spec(spec).ready()
    for change, said in [
        ({"format": "other"}, "another format"),
        ({"pyr": {**linear, "coef": [1.0] * 5}}, "not what"),
        ({"resp": {**linear, "intercept": math.inf}}, "not finite"),
        ({"pyr": {"kind": "svr"}}, "no 'kernel'"),
    ]:
        wrong = tmp_path / "wrong.json"
        wrong.write_text(json.dumps(json.loads(good.read_text()) | change))
        os.utime(wrong, ns=(hash(str(change)) % 10**18, hash(str(change)) % 10**18))
        with pytest.raises(NlgaugeError, match=said):
            metric_from_spec(f"s3(regressors={str(wrong)!r}, vectors={vectors!r})").ready()
    (tmp_path / "odd").write_text("the 1 2 x\n")
    with pytest.raises(NlgaugeError, match="line 1: expected a word and its numbers"):
        read_vectors(str(tmp_path / "odd"), frozenset({"the"}))
    (tmp_path / "odd").write_text("the 1 2 3\nice 1 2\n")
    with pytest.raises(NlgaugeError, match="line 2: 2 numbers, 3 before"):
        read_vectors(str(tmp_path / "odd"), frozenset({"the", "ice"}))


def test_stop_words_of_a_file_and_the_signature(vectors: str, tmp_path: Path) -> None:
    model = {"kind": "linear", "coef": [1.0, 0, 0, 0, 0, 0], "intercept": 0.0}
    file, words = tmp_path / "s3.json", tmp_path / "english"
    file.write_text(json.dumps({"format": FORMAT, "features": FEATURES, "pyr": model, "resp": model}))
    words.write_text("ice\nshelv\n")
    batch = Batch.from_columns(OUTPUTS, references=REFERENCES)
    spec = f"regressors={str(file)!r}, vectors={vectors!r}"
    ours, other = (metric_from_spec(f"s3({spec}{more})") for more in ("", f", stop={str(words)!r}"))
    assert (ours.score(batch).values != other.score(batch).values).any()
    assert "stop:nlgauge" in ours.signature  # type: ignore[attr-defined]
    assert "stop:nlgauge" not in other.signature  # type: ignore[attr-defined]
