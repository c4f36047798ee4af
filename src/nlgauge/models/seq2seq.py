"""Likelihood of a target given a source under a sequence-to-sequence model; sources are encoded once for all
targets.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nlgauge.models.loading import LoadedModel
from nlgauge.models.tensors import by_length, padded, threads
from nlgauge.types import Array

SourceTarget = tuple[str, str]
TARGET_TOKENS = 1024  # of a batch: their logits over the vocabulary are the largest thing in memory


class TargetLogs(NamedTuple):
    """Natural logarithms of the target's token probabilities; cut: a text was longer than the model takes."""

    logs: Array
    cut: bool


class Seq2Seq(LoadedModel):
    """A model by name or folder (BART, T5, PEGASUS …)."""

    kind = "seq2seq"

    def __init__(self, name: str, option: str) -> None:
        super().__init__(name, option)
        start = self.model.config.decoder_start_token_id
        self.start = int(start if start is not None else self.pad)

    def ids(self, text: str, longest: int, special: bool = True) -> tuple[list[int], bool]:
        """Return token ids with the model's special tokens; longer texts are truncated at the end, with a flag."""
        whole = self.tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]
        if len(whole) <= longest:
            return list(whole), False
        selected = self.tokenizer(text, add_special_tokens=special, truncation=True, max_length=longest)["input_ids"]
        return list(selected), True

    def told(self, pairs: Sequence[SourceTarget], longest: int = 0, special: bool = True) -> list[TargetLogs]:
        """Compute log p(token | source, previous tokens) for each target; `special` includes the end token of the
        target.
        """
        import torch

        most = longest or self.longest
        sources = {s: self.ids(s, most) for s in dict.fromkeys(s for s, _ in pairs)}
        targets = {t: self.ids(t, most, special) for t in dict.fromkeys(t for _, t in pairs)}
        wanted: dict[str, dict[str, None]] = {s: {} for s in sources}
        for s, t in pairs:
            wanted[s][t] = None
        results: dict[SourceTarget, Array] = {}
        with threads():
            for some, states, mask in self._encoded({s: ids for s, (ids, _) in sources.items()}):
                asked = [(s, t) for s in some for t in wanted[s]]
                sizes = [len(targets[t][0]) for _, t in asked]
                for places in by_length(sizes, TARGET_TOKENS):
                    rows = [asked[i] for i in places]
                    index = torch.tensor([some[s] for s, _ in rows], device=states.device)
                    labels = [targets[t][0] for _, t in rows]
                    logits = self._logits(states[index], mask[index], labels)
                    for k, (pair, ids) in enumerate(zip(rows, labels, strict=True)):
                        text = logits[k, : len(ids)].float()
                        right = torch.tensor(ids, device=text.device, dtype=torch.long)[:, None]
                        logs = text.gather(1, right)[:, 0] - text.logsumexp(dim=1)
                        results[pair] = logs.double().cpu().numpy()
        return [TargetLogs(results[s, t], sources[s][1] or targets[t][1]) for s, t in pairs]

    def first(self, sources: Sequence[str], wanted: Sequence[int], longest: int = 0) -> list[tuple[Any, bool]]:
        """Compute the log-probabilities of the wanted tokens as the first token of the answer."""
        read = {s: self.ids(s, longest or self.longest) for s in dict.fromkeys(sources)}
        results: dict[str, Any] = {}
        with threads():
            for some, states, mask in self._encoded({s: ids for s, (ids, _) in read.items()}):
                logits = self._logits(states, mask, [[self.pad]] * len(some))[:, 0].float()
                logs = logits[:, list(wanted)] - logits.logsumexp(dim=1, keepdim=True)
                for s, row in some.items():
                    results[s] = logs[row].double().cpu().numpy()
        return [(results[s], read[s][1]) for s in sources]

    def _encoded(self, sources: dict[str, list[int]]) -> Iterator[tuple[dict[str, int], Any, Any]]:
        """Yield batches of encoded sources: the row of each text, hidden states and mask."""
        texts = list(sources)
        for places in by_length([len(sources[t]) for t in texts]):
            some = [texts[i] for i in places]
            table, mask = padded([sources[t] for t in some], self.pad, self.model.device)
            states = self.model.get_encoder()(input_ids=table, attention_mask=mask).last_hidden_state
            yield {t: i for i, t in enumerate(some)}, states, mask

    def _logits(self, states: Any, mask: Any, labels: Sequence[Sequence[int]]) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        given, _ = padded([[self.start, *ids[:-1]] for ids in labels], self.pad, self.model.device)
        return self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states), attention_mask=mask, decoder_input_ids=given
        ).logits

    def generate(self, texts: Sequence[str], beams: int, most: int) -> list[str]:
        """Generate the best continuation of each text by beam search, one text at a time; '' for a text that does not
        fit.
        """
        import torch

        message = []
        with threads():
            for text in texts:
                ids, cut = self.ids(text, self.longest)
                if cut:
                    message.append("")
                    continue
                table = torch.tensor([ids], device=self.model.device)
                out = self.model.generate(
                    input_ids=table,
                    attention_mask=torch.ones_like(table),
                    num_beams=beams,
                    max_new_tokens=most,
                    do_sample=False,
                )
                message.append(str(self.tokenizer.decode(out[0], skip_special_tokens=True)).strip())
        return message


@functools.lru_cache(2)
def seq2seq(name: str, option: str = "model") -> Seq2Seq:
    """Return the model with this name, which is loaded once."""
    return Seq2Seq(name, option)
