"""Controlled perturbations: the only module that makes a text worse on purpose, by a known amount.

Every perturbation is `f(text, amount, rng, pool=()) -> Damaged`. A word is what `str.split()` returns. `amount` is the
share of places that are perturbed: 0 returns the text unchanged, a larger amount changes at least as much on average,
and anything above 0 changes at least one place if there is one. A text with words never becomes empty; one without a
suitable place (nothing to negate, a single word to shuffle) is returned unchanged. Changes that preserve the meaning
(lower, upper, punctuation, synonym) work in the same way; `effects` has the expected effect of each on a score.
"""

from nlgauge.text.damage import letters, meaning, order, texts
from nlgauge.text.damage.attacks import ATTACKS, KEYS, attacked
from nlgauge.text.damage.core import DAMAGES, KINDS, Damage, Damaged, damage, register
from nlgauge.text.damage.effects import ASPECTS, EFFECTS, Effect, aspect_of, effect

__all__ = [
    "ASPECTS", "ATTACKS", "DAMAGES", "EFFECTS", "KEYS", "KINDS", "Damage", "Damaged", "Effect", "aspect_of", "attacked",
    "damage", "effect", "letters", "meaning", "order", "register", "texts",
]  # fmt: skip
