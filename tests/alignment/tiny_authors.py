"""Checkpoints in the layout of deng2021's authors, with random weights: a tiny RoBERTa (D) and a tiny BERT (R)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "metrics"))

SAID = (
    "McConaughey, an avid football fan, was seen in Austin. He didn't speak to reporters about the match. "
    "The film's director spoke of “Interstellar” and a sequel; reporters waited in the rain for hours."
)


def roberta(folder: Path, seed: int = 3) -> tuple[str, Any, dict[str, Any]]:
    """The folder with tokenizer and configuration, the model, and the checkpoint as torch.save gets it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=marks, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    bpe.train_from_iterator([SAID.casefold()], trainer)
    bpe.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    made = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
    )
    made.save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(made),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=514,
        type_vocab_size=1,
        initializer_range=0.5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    config.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = RobertaModel(config).eval()
        classifier = torch.nn.Linear(24, 2)
    state = {f"_roberta.{k}": v for k, v in model.state_dict().items()}
    # The first version of transformers that they ran kept this table as a weight.
    state["_roberta.embeddings.position_ids"] = torch.arange(514)[None]
    state |= {f"_classifier.{k}": v.detach() for k, v in classifier.state_dict().items()}
    return str(folder), model, state


def bert(folder: Path, seed: int = 4) -> tuple[str, Any, dict[str, Any]]:
    """As `roberta`, for R: BLEURT's model is a BERT with one linear layer on what it pools."""
    import torch
    from tiny_models import build
    from transformers import AutoConfig, BertModel

    build("masked", folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(AutoConfig.from_pretrained(folder)).eval()
        dense = torch.nn.Linear(16, 1)
    state = {f"bert.{k}": v for k, v in model.state_dict().items()}
    return str(folder), model, state | {f"dense.{k}": v.detach() for k, v in dense.state_dict().items()}
