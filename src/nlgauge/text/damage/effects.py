"""Expected effect of each perturbation on a score of an aspect: the expectations of the robustness checklist, as data.

They follow from the perturbation, not from any metric. '?' marks effects on which careful annotators could disagree.
"""

from __future__ import annotations

from typing import Literal

from nlgauge.errors import NameUnknown

# fall: the text is worse. stay: it is unchanged in this respect. not fall: it may be better, but not worse.
# open: no general expectation.
Effect = Literal["fall", "stay", "not fall", "open"]
SIGNS: dict[str, Effect] = {"-": "fall", "=": "stay", "+": "not fall", "?": "open"}

TABLE = """
kind             overall  fluency  coherence  consistency  relevance
drop                -        -         -           ?           -
truncate            -        -         -           =           -
swap                -        -         -           ?           =
shuffle             -        -         -           ?           ?
repeat              -        -         -           =           ?
repeat-sentence     -        =         -           =           -
garble              -        -         -           ?           ?
typo                -        -         ?           =           =
replace             -        -         -           -           -
entity              -        =         ?           -           ?
number              -        =         ?           -           ?
negate              -        =         ?           -           ?
wrong               -        =         ?           -           -
copy                -        =         ?           +           -
lower               =        =         =           =           =
upper               =        =         =           =           =
punctuation         =        ?         =           =           =
synonym             =        =         =           =           =
"""

_HEAD, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
ASPECTS: tuple[str, ...] = tuple(_HEAD[1:])
EFFECTS: dict[str, dict[str, Effect]] = {
    kind: {aspect: SIGNS[sign] for aspect, sign in zip(ASPECTS, signs, strict=True)} for kind, *signs in _ROWS
}

# Other names that papers and data sets give these aspects.
_NAMES = {
    "overall": "overall quality score adequacy engagingness engaging interestingness preservation",
    "fluency": "fluency grammar grammaticality naturalness natural readability understandable",
    "coherence": "coherence maintainscontext",
    "consistency": "consistency faithfulness factuality factual-consistency groundedness usesknowledge",
    "relevance": "relevance informativeness informative coverage",
}
_ASPECT = {name: aspect for aspect, names in _NAMES.items() for name in names.split()}


def aspect_of(name: str) -> str | None:
    """Return the aspect of this table that a name refers to, or None.

    >>> aspect_of("Faithfulness"), aspect_of("surprise")
    ('consistency', None)
    """
    return _ASPECT.get(name.strip().lower().replace(" ", "-").replace("_", "-"))


def effect(kind: str, aspect: str = "overall") -> Effect:
    """Return the expected effect of this perturbation on a score of this aspect.

    >>> effect("negate", "consistency"), effect("negate", "fluency"), effect("synonym")
    ('fall', 'stay', 'stay')
    """
    available = aspect_of(aspect)
    if kind not in EFFECTS:
        raise NameUnknown(f"no perturbation '{kind}'. Expected one of: {', '.join(EFFECTS)}.")
    if available is None:
        raise NameUnknown(f"no expectations for aspect '{aspect}'; expected one of {', '.join(ASPECTS)}.")
    return EFFECTS[kind][available]
