import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics import Batch, take
from nlgauge.scoring.score_batch import LARGEST, pieces

texts = st.none() | st.sampled_from(["", "a", "b c", "d"])
samples = st.lists(st.tuples(texts, texts, st.lists(st.sampled_from("pqr"), max_size=3)), min_size=1, max_size=8)


@given(samples, st.data())
def test_a_part_holds_the_texts_of_its_samples_in_order(found: list, data: st.DataObject) -> None:
    outputs, sources, references = zip(*found, strict=True)
    batch = Batch.from_columns(list(outputs), source=list(sources), references=list(references))
    rows = data.draw(st.lists(st.integers(0, len(found) - 1), unique=True))
    part = take(batch, np.array(rows, np.int64))
    assert [part.text(i) for i in part.output] == [outputs[i] for i in rows]
    assert [part.text(i) for i in part.source] == [sources[i] for i in rows]
    theirs = [[part.text(r) for r in part.reference[a:b]] for a, b in zip(part.start, part.start[1:], strict=False)]
    assert theirs == [list(references[i]) for i in rows]


@given(st.integers(0, 100_000), st.integers(1, 64))
def test_pieces_cover_all_samples_once_and_stay_small(n: int, workers: int) -> None:
    found = pieces(n, workers)
    assert np.array_equal(np.concatenate(found) if found else np.empty(0), np.arange(n))
    assert all(0 < len(piece) <= LARGEST for piece in found)
