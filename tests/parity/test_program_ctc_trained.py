"""The trained D and R of deng2021 beside their authors' package ctc-score, on the same tiny checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from programs import agree, installed
from two_texts import align

from nlgauge.models.torch_weights import ASKED

sys.path.insert(0, str(Path(__file__).parent.parent / "alignment"))
pytestmark = pytest.mark.filterwarnings("ignore::nlgauge.models.torch_weights.TorchWeights")
TEXTS = ["McConaughey  was seen in the Rain.", "the “director” will wait for hours", "hours", "He was İn the rain, ß"]


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    installed("ctc_score", "cleantext")
    import nltk.corpus
    import torch

    monkeypatch.setenv(ASKED, "1")
    # nltk's word list is a file that no package carries; nothing is left out here.
    monkeypatch.setattr(nltk.corpus, "stopwords", SimpleNamespace(words=lambda *_: []))
    try:
        from ctc_score.models import bleurt_aligner_pt, discriminative_aligner  # type: ignore[import-not-found]

        yield torch, discriminative_aligner, bleurt_aligner_pt
    finally:
        for name in [m for m in sys.modules if m.partition(".")[0] in ("ctc_score", "cleantext")]:
            del sys.modules[name]  # it was imported with the stand-in


def test_d_equals_ctc_score(theirs: Any, tmp_path: Path) -> None:
    from tiny_authors import SAID, roberta
    from transformers import AutoTokenizer

    torch, module, _ = theirs
    base, model, state = roberta(tmp_path / "base")
    torch.save(state, tmp_path / "d.ckpt")
    program = module.DiscriminativeAligner.__new__(module.DiscriminativeAligner)  # its __init__ fetches roberta-large
    torch.nn.Module.__init__(program)
    program._aggr_type, program._device, program._space_char = "mean", "cpu", "Ġ"
    program._roberta, program._classifier = model, torch.nn.Linear(24, 2)
    program._tokenizer = AutoTokenizer.from_pretrained(base)
    program._bos_id = program._tokenizer.bos_token_id
    program.load_state_dict({k: v for k, v in state.items() if not k.endswith("position_ids")})
    program.eval()
    for text in TEXTS:
        words, wanted = program.align(text, SAID)
        found = align(text, SAID, estimator="D", weights=str(tmp_path / "d.ckpt"), encoder=base)
        assert len(found) == len(words)
        agree(f"ctc D, {len(words)} words", found.scores.tolist(), wanted, 1e-6)
        assert found.mean() == pytest.approx(program.get_score(text, SAID, remove_stopwords=False), abs=1e-6)


def test_r_equals_ctc_score(theirs: Any, tmp_path: Path) -> None:
    from tiny_authors import bert
    from transformers import AutoConfig, AutoTokenizer

    torch, _, module = theirs
    base, _, state = bert(tmp_path / "base")
    torch.save(state, tmp_path / "r.ckpt")
    program = module.BLEURTAligner.__new__(module.BLEURTAligner)  # its __init__ fetches bert-base-uncased
    program._aggr_type, program.device = None, "cpu"
    program.bleurt_model = module.BleurtModel(AutoConfig.from_pretrained(base)).eval()
    program.bleurt_model.load_state_dict(state, strict=False)
    program.tokenizer = AutoTokenizer.from_pretrained(base)
    for text, context in (("the cat sat on the mat .", "a dog ran"), ("tea", "the cat is near the park .")):
        wanted = program.get_score(text, context, remove_stopwords=True)
        found = align(text, context, estimator="R", weights=str(tmp_path / "r.ckpt"), encoder=base)
        assert found.mean() == found.sum() == pytest.approx(wanted, abs=1e-6)
