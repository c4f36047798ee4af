"""What metrics with a model by name or folder share: facts of the instance, a word at once about what is missing, signature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from nlgauge.metrics.base import Facts, signature


class ByName:
    """`models()` says which options name a model: option -> name or folder."""

    facts: Facts
    instead = ""  # a metric of the same kind with weights inside a package

    def models(self) -> dict[str, str]:
        named: dict[str, str] = {"model": self.model}  # type: ignore[attr-defined]
        return named

    def ready(self) -> None:
        """Packages and folders; a name of the hub is looked for when the model is loaded."""
        from nlgauge.models.hub_models import check_ready

        check_ready(self.facts.name, self.instead, **self.models())

    def _tell(self, needs: Iterable[str], bounds: tuple[float, float] | None = None) -> None:
        """What the texts must have, and the bounds, depend on options, so on the instance."""
        own = type(self).facts
        facts = replace(own, needs=frozenset({"output", *needs}), bounds=bounds or own.bounds)
        object.__setattr__(self, "facts", facts)

    def _signature(self, **more: Any) -> str:
        from nlgauge.models.hub_models import fingerprint

        named = {option: fingerprint(name) for option, name in self.models().items()}
        return signature(**named, **{k: spaceless(v) for k, v in more.items()})


def spaceless(value: Any) -> Any:
    """Text as one word, so that a signature has no spaces."""
    return repr(value).replace(" ", "_") if isinstance(value, str) and set(value) & set(" \n|:") else value
