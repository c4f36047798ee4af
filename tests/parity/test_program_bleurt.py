"""BLEURT beside the package bleurt-pytorch (its own network, not transformers' BERT) on the same weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from programs import OTHER, SOURCE, SUMMARIES, agree, batch, bert, installed, ours, stand_in

REFERENCES = [SOURCE, OTHER, OTHER, SOURCE]


def test_bleurt_equals_bleurt_pytorch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed("bleurt_pytorch")
    import torch
    import transformers
    import transformers.pytorch_utils
    from safetensors.torch import load_file

    # transformers has one BERT tokenizer now, and none of these helpers for masks and pruned heads.
    stand_in(
        monkeypatch, "transformers.models.bert.tokenization_bert_fast", BertTokenizerFast=transformers.BertTokenizer
    )
    monkeypatch.setattr(transformers.pytorch_utils, "find_pruneable_heads_and_indices", None, raising=False)
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification
    from bleurt_pytorch.bleurt.modeling_bleurt import BleurtModel

    def added(self: BleurtModel, mask: torch.Tensor, shape: torch.Size) -> torch.Tensor:
        """What is added to the attention: nothing, or the smallest number where there is padding."""
        return (1.0 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min

    monkeypatch.setattr(BleurtModel, "get_head_mask", lambda self, mask, n: [None] * n, raising=False)
    monkeypatch.setattr(BleurtModel, "get_extended_attention_mask", added, raising=False)
    folder = bert("SequenceClassification", tmp_path, num_labels=1)
    weights = load_file(Path(folder, "model.safetensors"))
    config = BleurtConfig(
        vocab_size=len(weights["bert.embeddings.word_embeddings.weight"]),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=512,
        num_labels=1,
    )
    made = BleurtForSequenceClassification(config).eval()
    renamed = {name.replace("bert.", "bleurt.", 1): value for name, value in weights.items()}
    missing, unknown = made.load_state_dict(renamed, strict=False)
    assert not unknown and not [m for m in missing if "position_ids" not in m]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        given = tokenizer(REFERENCES, SUMMARIES, padding="longest", return_tensors="pt")
        theirs = made(**given).logits.flatten().tolist()
    found = ours(f"bleurt(model={folder!r})", batch(SUMMARIES, references=REFERENCES))
    agree("bleurt", found, theirs, 1e-5)
    assert np.ptp(found) > 0.05
