"""novikova2017 from its texts: our surface, readability and grammar metrics beside the published columns.

The texts are the column `sys_ref`, 2,460 utterances. What was counted there, found by comparing: `len` is characters
without spaces and punctuation but with apostrophes; the utterance is one sentence; words without a vowel ("x", "st")
and numbers have no syllables; numbers are no words of the reading ease. What stays different is how many syllables
single names have ("ristorante", "hyatt"), because the dictionaries differ.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr

import nlgauge as ng
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.text.syllables import cmudict

pytestmark = pytest.mark.real
PRESET = "preset='novikova2017'"


@pytest.fixture(scope="module")
def published(real_data: Path) -> pl.DataFrame:
    path = real_data / "bagel_sfhotel_sfrest" / "emnlp_data_medians.csv"
    if not path.is_file():
        pytest.skip(f"{path.name} not found")
    return pl.read_csv(path, infer_schema_length=None)


@pytest.fixture(scope="module")
def batch(published: pl.DataFrame) -> Batch:
    return Batch.from_columns(published["sys_ref"].to_list(), source=published["mr"].to_list())


def compared(spec: str, column: str, batch: Batch, published: pl.DataFrame) -> tuple[float, float]:
    """Spearman correlation with the published column, and the share of values that are equal to its last digit."""
    ours = metric_from_spec(spec).score(batch).values
    theirs = published[column].cast(pl.Float64).to_numpy()
    return spearmanr(ours, theirs, nan_policy="omit")[0], float(np.mean(np.abs(ours - theirs) < 6e-4))


@pytest.mark.parametrize(
    ("spec", "column"),
    [("len", "sys.ref.len"), ("cpw", "sys.cpw"), (f"wps({PRESET})", "sys.wps"), ("lev-source", "lev.dist")],
)
def test_what_can_be_counted_is_equal_in_all_2460_rows(
    spec: str, column: str, batch: Batch, published: pl.DataFrame
) -> None:
    assert compared(spec, column, batch, published)[1] == 1.0


@pytest.mark.parametrize(
    ("name", "column", "rho", "equal"),
    [
        ("sps", "sys.sps", 0.995, 0.88),
        ("spw", "sys.spw", 0.99, 0.88),
        ("pol", "sys.n.poly", 0.98, 0.96),
        ("ppw", "sys.pspw", 0.98, 0.96),
        ("flesch", "sys.read.flesch", 0.98, 0.88),
    ],
)
def test_what_rests_on_syllables_is_equal_in_nine_rows_of_ten(
    name: str, column: str, rho: float, equal: float, batch: Batch, published: pl.DataFrame
) -> None:
    if cmudict() is None:
        pytest.skip("the CMU dictionary (pocketsphinx) is not installed")
    found = compared(f"{name}({PRESET})", column, batch, published)
    print(f"{name}: Spearman {found[0]:.4f}, equal {found[1]:.1%}")
    assert found[0] > rho
    assert found[1] > equal


def test_the_reading_ease_is_equal_wherever_the_syllables_are(batch: Batch, published: pl.DataFrame) -> None:
    ease = metric_from_spec(f"flesch({PRESET})").score(batch).values
    syllables = metric_from_spec(f"sps({PRESET})").score(batch).values
    same = syllables == published["sys.sps"].to_numpy()
    assert same.mean() > 0.8
    assert ease[same] == pytest.approx(published["sys.read.flesch"].to_numpy()[same], abs=1e-6)


@pytest.mark.parametrize(("file", "dataset"), [("bagel", "BAGEL"), ("sfhot", "SFHOT"), ("sfres", "SFRES")])
def test_the_tokenised_texts_give_the_same_but_for_split_contractions(
    file: str, dataset: str, real_data: Path, published: pl.DataFrame
) -> None:
    """In *_with_refs.jsonl "i'm" stands as "I 'm", two words."""
    lines = (real_data / "bagel_sfhotel_sfrest" / f"{file}_with_refs.jsonl").read_text().splitlines()
    part = published.filter(pl.col("dataset") == dataset)
    batch = Batch.from_columns([json.loads(line)["sys_summ"] for line in lines])
    assert compared("len", "sys.ref.len", batch, part)[1] == 1.0
    for spec, column in (("cpw", "sys.cpw"), (f"wps({PRESET})", "sys.wps")):
        assert compared(spec, column, batch, part)[1] > 0.98
    for spec, column in ((f"sps({PRESET})", "sys.sps"), (f"flesch({PRESET})", "sys.read.flesch")):
        assert compared(spec, column, batch, part)[0] > 0.96


def test_misspellings_agree_in_seven_rows_of_ten(batch: Batch, published: pl.DataFrame) -> None:
    """The authors' dictionary is not named; proper names decide."""
    pytest.importorskip("spellchecker")
    rho, equal = compared("msp", "n.misspel", batch, published)
    print(f"msp: Spearman {rho:.3f}, equal {equal:.1%}")
    assert rho > 0.55
    assert equal > 0.68


def test_sim_follows_the_published_similarity(batch: Batch, published: pl.DataFrame) -> None:
    """Theirs is a service with LSA and WordNet that is no longer there; ours aligns the same terms by static vectors."""
    metric = metric_from_spec("sim")
    try:
        metric.ready()
    except ng.NlgaugeError as error:
        pytest.skip(str(error))
    assert compared("sim", "sim.mr.sys", batch, published)[0] > 0.65


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_the_parser_score_follows_the_published_one_and_the_ratings_as_much(
    published: pl.DataFrame, every: int
) -> None:
    """Theirs is a log-probability of the Stanford parser, which grows with length; ours a cost that does not."""
    published = published.gather_every(every)
    metric = metric_from_spec("prs")
    try:
        metric.ready()
    except ng.NlgaugeError as error:
        pytest.skip(str(error))
    ours = metric.score(Batch.from_columns(published["sys_ref"].to_list())).values
    assert spearmanr(ours, published["parser.sc.mean"])[0] > 0.5
    for aspect in ("naturalness", "quality"):
        assert (
            spearmanr(ours, published[aspect])[0] > spearmanr(published["parser.sc.mean"], published[aspect])[0] - 0.06
        )
