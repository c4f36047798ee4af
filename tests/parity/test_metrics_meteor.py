"""METEOR against the program of its authors (METEOR 1.5, Java, inside pycocoevalcap) and against nltk."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from metric_texts import real_samples

from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.text import wordnet as _wordnet
from nlgauge.text.treebank import tokenize

Pairs = list[tuple[str, list[str]]]
VOCABULARY = (
    "the the the a of , . to cat cats dog hound run running runs ran walk stroll big large house home quickly fast "
    "rapid said says child kids kid children party Party agreement accord went go goes better good feet foot"
).split()


@pytest.fixture(scope="module")
def wordnet() -> None:
    try:
        _wordnet.wordnet_folder()
    except NeedsMissing as missing:
        pytest.skip(str(missing))


def program() -> Path:
    return Path(pytest.importorskip("pycocoevalcap").__path__[0]) / "meteor" / "meteor-1.5.jar"


class Jar:
    """METEOR 1.5 on tokens as they are, without paraphrases or with those of a table."""

    def __init__(self, table: Path | None = None) -> None:
        options = ["-l", "en", "-m", "exact stem synonym", "-w", "1.0 0.6 0.8", "-p", "0.85 0.2 0.6 0.75"]
        if table:
            options[3:6] = ["exact stem synonym paraphrase", "-w", "1.0 0.6 0.8 0.6", "-a", str(table)]
        self.table = table
        self.process = subprocess.Popen(
            # One thread for garbage and a quick compiler: the program lives for seconds.
            [
                "java",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                "-Xmx2G",
                str(program()),
                "-",
                "-",
                "-stdio",
                *options,
            ],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _ask(self, line: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def score(self, pairs: Pairs) -> tuple[list[float], float]:
        """Each output, and all together."""
        stats = [self._ask(f"SCORE ||| {' ||| '.join(refs)} ||| {out}") for out, refs in pairs]
        first = float(self._ask("EVAL ||| " + " ||| ".join(stats)))
        assert self.process.stdout
        rest = [float(self.process.stdout.readline()) for _ in pairs]
        return [first, *rest[:-1]], rest[-1]


@pytest.fixture(scope="module")
def jar() -> Iterator[Jar]:
    yield from running()


def running(table: Path | None = None) -> Iterator[Jar]:
    if shutil.which("java") is None:
        pytest.skip("no Java: METEOR 1.5 cannot run")
    one = Jar(table)
    yield one
    one.process.kill()
    one.process.wait()


def made_table(path: Path, seed: int) -> Path:
    """Phrases of one to four of our words with paraphrases, some in both directions, some twice."""
    rng = np.random.default_rng(seed)
    words = [w.lower() for w in VOCABULARY]
    lines = []
    for _ in range(400):
        a, b = (" ".join(rng.choice(words, rng.choice([1, 1, 2, 2, 3, 4]))) for _ in range(2))
        for phrase, other in ((a, b), (b, a))[: rng.integers(1, 3)] * rng.integers(1, 3):
            lines += [f"{rng.random():.4f}", phrase, other]
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


@pytest.fixture(scope="module")
def jar_with_made_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jar]:
    yield from running(made_table(tmp_path_factory.mktemp("table") / "paraphrase.gz", 5))


@pytest.fixture(scope="module")
def jar_with_its_table() -> Iterator[Jar]:
    yield from running(program().parent / "data" / "paraphrase-en.gz")


def random_pairs(n: int, longest: int, seed: int) -> Pairs:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        words = list(rng.choice([w.lower() for w in VOCABULARY], rng.integers(1, longest)))
        references = []
        for _ in range(rng.integers(1, 3)):
            other = [w if rng.random() < 0.7 else str(rng.choice(VOCABULARY)).lower() for w in words]
            references.append(" ".join(rng.permutation(other) if rng.random() < 0.5 else other))
        found.append((" ".join(words), references))
    return found


def assert_equal_to_the_jar(jar: Jar, pairs: Pairs) -> None:
    singly, whole = jar.score(pairs)
    batch = Batch.from_columns([o for o, _ in pairs], references=[r for _, r in pairs])
    table = f", paraphrases={str(jar.table)!r}" if jar.table else ""
    metric: Any = metric_from_spec(f"meteor(tokenize='none', function_words={str(program())!r}{table})")
    metric.ready()
    assert np.allclose(metric.score(batch).values, singly, rtol=0, atol=1e-9)
    assert metric.from_stats(metric.stats(batch).sum(axis=0))[0] == pytest.approx(whole, abs=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize(("n", "longest"), [(300, 8), (150, 20), (60, 60)])
def test_meteor_equals_the_authors_program(jar: Jar, n: int, longest: int) -> None:
    assert_equal_to_the_jar(jar, random_pairs(n, longest, n))


@pytest.mark.slow
@pytest.mark.usefixtures("wordnet")
def test_meteor_on_published_texts_equals_the_authors_program(jar: Jar, real_data: Path) -> None:
    pairs = [
        (" ".join(tokenize(o.lower())), [" ".join(tokenize(r.lower())) for r in refs[:4]])
        for o, refs in real_samples(real_data, 60)
    ]
    assert_equal_to_the_jar(jar, pairs)


@pytest.mark.slow
@pytest.mark.usefixtures("wordnet")
@pytest.mark.parametrize(("n", "longest"), [(300, 8), (150, 20), (40, 60)])
def test_meteor_with_paraphrases_equals_the_authors_program(jar_with_made_table: Jar, n: int, longest: int) -> None:
    assert_equal_to_the_jar(jar_with_made_table, random_pairs(n, longest, n + 1))


@pytest.mark.long  # `make test` has a made table, and the program's own in tests/real/test_meteor_program.py
@pytest.mark.usefixtures("wordnet")
def test_meteor_with_its_own_paraphrases_on_published_texts(jar_with_its_table: Jar, real_data: Path) -> None:
    pairs = [
        (" ".join(tokenize(o.lower())), [" ".join(tokenize(r.lower())) for r in refs[:4]])
        for o, refs in real_samples(real_data, 60)
    ]
    assert_equal_to_the_jar(jar_with_its_table, pairs)
    program_only = metric_from_spec(f"meteor(tokenize='none', function_words={str(program())!r})")
    batch = Batch.from_columns([o for o, _ in pairs], references=[r for _, r in pairs])
    singly, _ = jar_with_its_table.score(pairs)
    assert (np.abs(singly - program_only.score(batch).values) > 1e-3).any()  # the table matters


class Synset:
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def lemmas(self) -> list[Any]:
        return [type("Lemma", (), {"name": lambda self, n=name: n})() for name in self.names]


class Wordnet:
    """Our reader in the clothes that nltk's METEOR expects."""

    def __init__(self, empty: bool = False) -> None:
        self.empty = empty

    def synsets(self, word: str) -> list[Synset]:
        return [] if self.empty else [Synset(_wordnet.synonyms(word))]


@pytest.mark.parametrize("synonyms", [False, True])
def test_meteor_by_the_nltk_rules_equals_nltk(synonyms: bool, request: pytest.FixtureRequest) -> None:
    if synonyms:
        request.getfixturevalue("wordnet")
    theirs = pytest.importorskip("nltk.translate.meteor_score").meteor_score
    pairs = [*random_pairs(300, 16, 1), ("", ["a b"]), ("Party", ["party"])]
    wanted = [theirs([r.split() for r in refs], o.split(), wordnet=Wordnet(not synonyms)) for o, refs in pairs]
    batch = Batch.from_columns([o for o, _ in pairs], references=[r for _, r in pairs])
    ours = metric_from_spec(f"meteor(preset='nltk', tokenize='none', synonyms={synonyms})").score(batch).values
    assert np.allclose(ours, wanted, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("wordnet")
def test_synonyms_are_those_of_nltks_wordnet_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = pytest.importorskip("nltk.corpus.reader.wordnet")
    copy = tmp_path / "corpora" / "wordnet"  # nltk reads below its own paths only, and no carriage returns
    copy.mkdir(parents=True)
    for file in _wordnet.wordnet_folder().iterdir():
        if file.suffix == ".exc" or file.name.startswith(("index.", "data.")):
            (copy / file.name).write_bytes(file.read_bytes().replace(b"\r", b""))
    # nltk wants two more files, which Debian leaves out; they play no part here
    (copy / "index.sense").touch()
    (copy / "lexnames").write_text("".join(f"{k:02d}\tname.{k}\t1\n" for k in range(45)))
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other languages
        theirs = reader.WordNetCorpusReader(str(copy), None)
    words = {w.lower() for w in VOCABULARY} | set(
        "men leaves knives axes dying happier ran worse boxes studied a us".split()
    )
    for word in words:
        names = {n.name() for s in theirs.synsets(word) for n in s.lemmas() if "_" not in n.name()}
        assert _wordnet.synonyms(word) == names, word


def test_without_wordnet_the_message_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wordnet, "_places", lambda: iter([Path("nowhere")]))
    with pytest.raises(NeedsMissing, match=r"wordnet-base.*synonyms=False"):
        _wordnet.wordnet_folder()
