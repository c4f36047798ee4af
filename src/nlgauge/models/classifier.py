"""Classifiers and regressors of one text or of a pair: logits, with a flag where a pair was truncated."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.models.loading import LoadedModel
from nlgauge.models.tensors import by_length, padded, threads
from nlgauge.registry import did_you_mean
from nlgauge.types import Array


class Classifier(LoadedModel):
    """A sequence classifier (or regressor: one label) by name or folder."""

    kind = "classifier"

    def label(self, asked: str | int, known: Sequence[str] = ()) -> int:
        """Return the number of a label: the one named, or the first of `known` that the model has."""
        names = {str(v).lower(): int(k) for k, v in self.model.config.id2label.items()}
        if isinstance(asked, int):
            if asked < len(names):
                return asked
            raise NlgaugeError(f"{self.option}='{self.name}': label={asked}; it has {len(names)} labels.")
        for name in [asked] if asked else known:
            if name.lower() in names:
                return names[name.lower()]
        what = asked or " or ".join(known)
        raise NlgaugeError(
            f"{self.option}='{self.name}': no label '{what}'.{did_you_mean(what, names)} It has {', '.join(names)}; "
            "give label= a name or a number."
        )

    def logits(self, pairs: Sequence[tuple[str, str]], longest: int = 0) -> list[tuple[Array, bool]]:
        """Return the logits of each pair, and whether a text was cut at its end to make the pair fit.

        The first is cut, the second only where it is long itself. longest: fewer tokens than the model takes, and then
        whichever text is longer is cut, as GLUE's programs do.
        """
        read = {p: self._read(p, longest) for p in dict.fromkeys(pairs)}
        asked = list(read)
        results: dict[tuple[str, str], Any] = {}
        with threads():
            for places in by_length([len(read[p][0]["input_ids"]) for p in asked]):
                some = [asked[i] for i in places]
                given = {}
                for key in read[some[0]][0]:
                    fill = self.pad if key == "input_ids" else 0
                    given[key] = padded([read[p][0][key] for p in some], fill, self.model.device)[0]
                out = self.model(**given).logits.double().cpu().numpy()
                results |= dict(zip(some, out, strict=True))
        return [(results[p], read[p][1]) for p in pairs]

    def probabilities(self, pairs: Sequence[tuple[str, str]], longest: int = 0) -> list[tuple[Array, bool]]:
        """Compute the probabilities of all labels: the softmax of the logits, or the sigmoid if the model has one
        label.
        """
        import numpy as np

        results = []
        for logits, cut in self.logits(pairs, longest):
            if len(logits) == 1:  # a softmax over one number would always be 1
                results.append((1 / (1 + np.exp(-logits)), cut))
                continue
            e = np.exp(logits - logits.max())
            results.append((e / e.sum(), cut))
        return results

    def _read(self, pair: tuple[str, str], longest: int) -> tuple[dict[str, list[int]], bool]:
        most = min(longest or self.longest, self.longest)
        whole = self.tokenizer(*pair, verbose=False)
        if len(whole["input_ids"]) <= most:
            return dict(whole), False
        # The second text is the judged one, so it is kept complete whenever possible.
        short = not longest and len(self.tokenizer(pair[1], verbose=False)["input_ids"]) < most // 2
        how = "only_first" if short else "longest_first"
        return dict(self.tokenizer(*pair, truncation=how, max_length=most)), True


@functools.lru_cache(3)
def classifier(name: str, option: str = "model") -> Classifier:
    """Return the classifier with this name, which is loaded once."""
    return Classifier(name, option)
