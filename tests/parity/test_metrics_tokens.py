"""Tokenizers and stemmers, token by token, against the programs whose values they have to give."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_texts import real_samples, texts

from nlgauge.metrics import Batch
from nlgauge.text.porter import stem as porter
from nlgauge.text.snowball import stem as snowball
from nlgauge.text.tokens import tokens
from nlgauge.text.treebank import normalized, without_punctuation

sacrebleu = pytest.importorskip("sacrebleu")
SUFFIXES = "s es ies ied eed ed ing ly ness ational ization fulness alli bli logi ment ion e ll y er able ative".split()
stems = st.builds(
    lambda head, one, two: head + one + two,
    st.text("abdeghilnorstuwxyz'", min_size=1, max_size=7),
    st.sampled_from(SUFFIXES),
    st.sampled_from(["", *SUFFIXES]),
)


def split(text: str, name: str, lowercase: bool = False) -> list[str]:
    batch = Batch.from_columns([text, "other words", text + " x"])
    found = tokens(batch, name, batch.output, lowercase=lowercase)
    words = found.words()
    first = found.start[0]
    return [words[i] for i in found.ids[first : first + found.length[0]]]


@given(texts, st.booleans())
def test_13a_is_sacrebleus(text: str, lowercase: bool) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    theirs = Tokenizer13a()((text.lower() if lowercase else text).rstrip()).split()
    assert split(text, "13a", lowercase) == theirs


@given(st.text("ab01.,- \n&'(", max_size=30))
def test_13a_treats_points_commas_and_dashes_as_sacrebleu(text: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert split(text, "13a") == Tokenizer13a()(text.rstrip()).split()


@given(
    st.lists(
        st.builds(
            lambda w, n, end: w[:n] + end,
            st.sampled_from(["abcdefghijklm", "abcdefghijk1m", "éabcdefghijkl"]),
            st.integers(1, 13),
            st.sampled_from(["", ".", ",", "..", ".5", "-", "!"]),
        ),
        max_size=6,
    )
)
def test_13a_of_words_of_every_length_is_sacrebleus(pieces: list[str]) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    text = " ".join(pieces)
    assert split(text, "13a") == Tokenizer13a()(text).split()


@pytest.mark.parametrize("text", ["a&quot;b &amp;&lt;&gt; <skipped>c", "end-\nof line-\n", "x\ny", "1-2 a-b", ".5,5.,"])
def test_13a_entities_and_line_ends_are_sacrebleus(text: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert split(text, "13a") == Tokenizer13a()(text.rstrip()).split()


HOSTILE = {
    "every character": "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000),
    "every character between letters": "x".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000),
    "every ASCII pair around a digit": " ".join(f"{chr(a)}5{chr(b)}" for a in range(128) for b in range(128)),
    "only marks": ".,-" * 2000,
    "one long word": "a" * 100_000,
    "one long number": "1,2.3-" * 20_000,
    "entities within entities": "&amp;quot; &amp;amp;lt; &&gt;; <skip<skipped>ped> &QUOT;" * 50,
    "lines cut anywhere": "-\n- -\r\n-\n\n.-\x85-\u2028-\x0b\x0c\x1c",
    "digits of other scripts": "٣,٤ ३.५ １，０００．５ ²,³ Ⅷ-Ⅸ",
    "nothing": "",
    "white space of all kinds": " \t\u00a0\u1680\u2003\u3000\ufeff\u200b ",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("lowercase", [False, True])
def test_13a_of_hostile_text_is_sacrebleus(name: str, lowercase: bool) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    text = HOSTILE[name]
    theirs = Tokenizer13a()((text.lower() if lowercase else text).rstrip()).split()
    assert split(text, "13a", lowercase) == theirs


@pytest.mark.real
def test_13a_of_published_texts_is_sacrebleus(real_data: Path) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    published = sorted({t for out, refs in real_samples(real_data) for t in (out, *refs)})
    assert len(published) > 4000
    theirs = Tokenizer13a()
    batch = Batch.from_columns(published)
    found = tokens(batch, "13a", batch.output)
    known = found.words()
    ours = [[known[i] for i in found.ids[a : a + n]] for a, n in zip(found.start, found.length, strict=True)]
    assert [t for t, o in zip(published, ours, strict=True) if o != theirs(t.rstrip()).split()] == []


@pytest.mark.parametrize("name", ["intl", "zh"])
@given(text=texts)
def test_intl_and_zh_are_sacrebleus(name: str, text: str) -> None:
    from sacrebleu.metrics.bleu import _get_tokenizer

    assert split(text, name) == _get_tokenizer(name)()(text.rstrip()).split()


@given(texts)
def test_white_space_is_that_of_str_split(text: str) -> None:
    assert split(text, "none") == text.split()


def test_every_code_point_splits_as_in_python() -> None:
    everything = "x".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    assert split(everything, "none") == everything.split()


@given(texts)
def test_chrf_words_are_sacrebleus(text: str) -> None:
    from sacrebleu.metrics.chrf import CHRF

    assert split(text, "chrf") == CHRF()._remove_punctuation(text)


@given(texts)
def test_rouge_tokens_are_rouge_scores(text: str) -> None:
    theirs = pytest.importorskip("rouge_score.tokenize")
    assert split(text, "rouge") == theirs.tokenize(text, None)


@given(stems)
def test_porter_stems_are_nltks(word: str) -> None:
    theirs = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    assert porter(word) == theirs.stem(word)


def test_porter_stems_of_real_words_are_nltks(real_data: Path) -> None:
    theirs = pytest.importorskip("nltk.stem.porter").PorterStemmer()
    words = {w for out, refs in real_samples(real_data) for t in (out, *refs) for w in t.lower().split()}
    assert [w for w in words if porter(w) != theirs.stem(w)] == []


def test_snowball_differs_from_the_current_snowball_release_in_listed_words_only() -> None:
    """METEOR 1.5 carries the algorithm of 2002; release 3 changed a few rules (tests/parity/test_metrics_meteor.py has
    the jar itself)."""
    theirs = pytest.importorskip("snowballstemmer").stemmer("english")
    words = (
        "generously skies hopping happily communism running ran national relational conditional fully geology".split()
    )
    assert [w for w in words if snowball(w) != theirs.stemWord(w)] == []
    assert (snowball("adding"), theirs.stemWord("adding")) == ("ad", "add")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Stanford's tokenizer cannot run")
def test_coco_tokens_are_the_stanford_tokenizers_on_e2e_texts_and_nearly_on_summaries(real_data: Path) -> None:
    folder = Path(pytest.importorskip("pycocoevalcap").__path__[0]) / "tokenizer"
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

    lines = sorted({t.replace("\n", " ") for out, refs in real_samples(real_data) for t in (out, *refs)})
    said = subprocess.run(
        [
            "java",
            "-cp",
            "stanford-corenlp-3.4.1.jar",
            "edu.stanford.nlp.process.PTBTokenizer",
            "-preserveLines",
            "-lowerCase",
        ],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    ).stdout.split("\n")
    theirs = [[w for w in line.split() if w not in PUNCTUATIONS] for line in said[: len(lines)]]
    ours = [without_punctuation(line.lower()).split() for line in lines]
    with (real_data / "bagel_sfhotel_sfrest" / "bagel_with_refs.jsonl").open() as rows:
        bagel = {t for row in rows for t in json.loads(row)["ref_summs"]}
    assert [line for line, a, b in zip(lines, ours, theirs, strict=True) if line in bagel and a != b] == []
    shared = sum(sum((Counter(a) & Counter(b)).values()) for a, b in zip(ours, theirs, strict=True))
    assert shared / sum(map(len, theirs)) > 0.999


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java: METEOR's normalizer cannot run")
def test_meteor_tokens_are_those_of_meteors_normalizer(real_data: Path) -> None:
    """Its list of abbreviations is longer than ours: "Smash Bros." ends a sentence here."""
    jar = Path(pytest.importorskip("pycocoevalcap").__path__[0]) / "meteor" / "meteor-1.5.jar"
    real = sorted({" ".join(t.split()) for out, refs in real_samples(real_data) for t in (out, *refs)})
    lines = [
        *real,
        "It's Mr. X's U.S.-based firm... no, it isn't!",
        "1990's 3,000, a,b 'so' -- “quoted” – ‘x’ No. 5 No. x",
    ]
    said = subprocess.run(
        ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar), "edu.cmu.meteor.util.Normalizer", "en", "true"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout.split("\n")[: len(lines)]
    different = [(a, b) for a, b in zip(said, map(normalized, lines), strict=True) if a != b]
    assert len(different) <= 0.001 * len(lines), different[:3]
