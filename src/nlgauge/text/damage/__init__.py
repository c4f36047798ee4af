"""Controlled damage to texts: the one place that makes a text worse on purpose, by a known amount.

Every damage is `f(text, amount, rng, pool=()) -> Damaged`. A word is what `str.split()` gives. `amount` is
the share of places that are damaged: 0 gives the text back as it was, more does at least as much on average,
and anything above 0 damages at least one place if there is one. A text with words never becomes empty; one
that offers no place (nothing to negate, a single word to shuffle) comes back as it was. Changes that leave the meaning
alone (lower, upper, punctuation, synonym) are made in the same way; `effects` says what each should do to a score.
"""

from nlgauge.text.damage import letters, meaning, order, texts
from nlgauge.text.damage.attacks import ATTACKS, attacked
from nlgauge.text.damage.core import DAMAGES, KINDS, Damage, Damaged, damage, register
from nlgauge.text.damage.effects import ASPECTS, EFFECTS, Effect, aspect_of, effect

__all__ = [
    "ASPECTS", "ATTACKS", "DAMAGES", "EFFECTS", "KINDS", "Damage", "Damaged", "Effect", "aspect_of", "attacked",
    "damage", "effect", "letters", "meaning", "order", "register", "texts",
]  # fmt: skip
