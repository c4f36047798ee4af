"""Words that carry no information by themselves: English function words, by class, for sums over dialogue."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError

CLASSES = {
    "articles and pointers": "a an the this that these those such same other another each every either neither both "
    "all any some no few more most",
    "persons": "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves who whom whose which what",
    "auxiliaries": "am is are was were be been being have has had having do does did doing done will would shall "
    "should can could may might must ought need dare",
    "short forms": "i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll "
    "we're we've we'd we'll they're they've they'd they'll that's that'll there's here's what's who's where's let's "
    "isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't shan't shouldn't can't "
    "cannot couldn't mightn't mustn't needn't ain't s t d m ll re ve don isn aren wasn weren doesn didn haven hasn "
    "hadn won wouldn shouldn couldn gonna wanna im ive dont thats",
    "prepositions": "about above after against at before below between by down during for from in into of off on onto "
    "out over through to under until up upon with within without",
    "joining": "and but or nor so yet if because as while although though unless since than then when where why "
    "how whether",
    "small adverbs": "again also further here there once just now only own too very not even ever still",
}
STOP = frozenset(" ".join(CLASSES.values()).split())
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@lru_cache(4)
def stop_words_of(path: str = "") -> frozenset[str]:
    """Return the words of a file, in lower case, or our English function words.

    Parameters
    ----------
    path : str, optional
        A list such as nltk's or MoverScore's, words separated by white space.

    Returns
    -------
    frozenset of str
    """
    if not path:
        return STOP
    try:
        return frozenset(Path(path).expanduser().read_text("utf-8").lower().split())
    except (OSError, UnicodeDecodeError) as error:
        raise NlgaugeError(f"stop='{path}': {error}") from None


def stop_signature(path: str) -> str:
    """Return a hash of a list of stop words, for the signature of a metric.

    Parameters
    ----------
    path : str
        As in `stop_words_of`.

    Returns
    -------
    str
        Empty where there is no path.
    """
    words = " ".join(sorted(stop_words_of(path))) if path else ""
    return digest(words).hex() if path else ""
