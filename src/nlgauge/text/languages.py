"""Script and language of a text: the Unicode names of its letters, and function words of a few languages."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from nlgauge.text.stopwords import STOP, WORD

LONGEST = 2000  # characters of a text that are read
MIN_WORDS = 2  # function words of a language in a text of that language
MIN_SHARE = 0.1  # of the words of a text
FUNCTION_WORDS = {  # of other languages than English
    "Czech": "a aby ale ani až bude by byl byla bylo být co do i jako je jeho jejich jen jsem jsou když která které "
    "který ke mezi na nebo není o od po pod podle pro proto před při s se si také tak to už v ve však z za ze že",
    "Danish or Norwegian": "af at blev de den der det du efter eller en er et etter fra før han har hun hvis i ikke "
    "jeg kan med men mot nå når og også om på seg sig sin skal som til ut var ved vil være å",
    "Dutch": "aan als bij dat de deze die dit door een en er geen had heeft het hij hun in is kan maar met meer naar "
    "niet nog of om ook op over te tot uit van voor was waren wat werd wij worden wordt ze zijn",
    "Estonian": "aga aasta alla kas ei ent et enne ja juba järgi ka kes kui kuid kõik ma mida mille mis nad need ning "
    "nii nende oli olid on ole oma pärast sa sai seda selle ta tema teda välja veel vaid või üle",
    "Finnish": "että ei eivät ennen hän he ja jo joka jos jotka kanssa kuin kun kuten mukaan mutta myös ne niin noin "
    "ole oli olivat on ovat sekä sen siitä se sitä tai tämä vain vielä",
    "French": "au aux avec ce ces cette comme dans de des deux du elle en est et été il ils je la le les leur mais ne "
    "nous on ou où par pas plus pour qu que qui sa se ses son sont sur un une vous était",
    "German": "als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer er es für "
    "hat ich im in ist kann mit nach nicht noch nur oder sein sich sie sind so um und von war werden wie wird wurde zu "
    "zum zur über",
    "Hungarian": "a az be csak de egy el ez ezt és ha hogy is ki kell lehet már még meg mint nem nincs olyan pedig "
    "sem szerint után vagy van volt",
    "Indonesian": "ada adalah akan atau bahwa dalam dan dari dengan di ia ini itu juga karena ke mereka oleh pada "
    "saat saya sebagai sebuah telah tidak untuk yang",
    "Italian": "al alla anche che chi come con da dal dalla degli dei del della delle di due e gli ha i il in la le "
    "lo loro ma nel nella non o per più quando sono stata stato su sua suo un una uno è",
    "Polish": "a aby albo ale był była było być co czy dla do go i ich jak jako jego jej jest już który która które "
    "lub na nie o od oraz po pod przez przy są się tak tego też to tym w we z za ze że",
    "Portuguese": "ao aos as com como da das de do dos e ela ele em entre era essa esse esta foi já mais mas na não "
    "nas no nos num numa o os ou para pela pelo por quando que se seu são sua também um uma à é",
    "Romanian": "a acest această al ale am au ca care ce cu cum de din dintre după ei el este fi fost în într îi își "
    "la lui lor mai nu o pe pentru prin s-a sa sau se sunt și şi toate un unei unui va că să",
    "Russian": "а без бы был была были было быть в вы для до его ее её если же за и из или их к как когда которые "
    "который мы на не но о об он она они от по при с со так также то только у что это",
    "Spanish": "al como con cuando de del desde donde el ella en entre era es esta este está fue ha hasta la las lo "
    "los me muy más no o para pero por porque que se sin sobre son su sus también un una y ya",
    "Swedish": "att av blev de den det du efter eller en ett från för han har hon i in inte jag kan man med men mot "
    "när och också om på sig sin ska som så till under upp ut var vi vid är över",
    "Turkish": "bir bu çok da daha de değil diye en gibi her için ile ise kadar ki ne o olan olarak oldu olduğu sonra "
    "ve veya ya",
    "Ukrainian": "а або але без було бути в вже від він вона вони до з за і із його її їх й як які який коли на не "
    "ним по при про та також так те тільки то у що це щоб є",
    "Vietnamese": "bị các cho có của cũng đã đang để đến được hai khi không là làm lại một này năm người những như "
    "ông ra sẽ sự tại thì trong trên từ và vào về với",
}  # fmt: skip
LANGUAGES_OF: dict[str, list[str]] = {}  # word -> languages; single Latin letters are also initials and variables
for _language, _words in [("English", STOP), *((name, words.split()) for name, words in FUNCTION_WORDS.items())]:
    for _word in _words:
        if len(_word) > 1 or not _word.isascii():
            LANGUAGES_OF.setdefault(_word, []).append(_language)


class Language(NamedTuple):
    """Script and language of a text; '' where there is no letter, or where no list of function words fits."""

    script: str
    name: str

    def __str__(self) -> str:
        """Return the language, or the script if the language was not recognized."""
        return self.name or (f"{self.script} script" if self.script else "")


@lru_cache(1 << 14)
def script_of_letter(letter: str) -> str:
    """Return the script of a letter by its Unicode name; '' for what is no letter.

    >>> script_of_letter("a"), script_of_letter("ש"), script_of_letter("中"), script_of_letter("1")
    ('Latin', 'Hebrew', 'Chinese', '')
    """
    if not letter.isalpha():
        return ""
    first = unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
    return {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese"}.get(first, first.capitalize())


def language_of(text: str) -> Language:
    """Return the script of most letters of a text, and the language whose function words it has most of.

    Parameters
    ----------
    text : str
        Its first 2,000 characters are read.

    Returns
    -------
    Language

    Notes
    -----
    A language is named if at least two words and 10% of the words are among its function words, and no other language
    has as many. The lists are short, so a sentence without function words is not recognized.

    Examples
    --------
    >>> str(language_of("The port was closed by a storm.")), str(language_of("Der Hafen wurde von Regen überflutet."))
    ('English', 'German')
    >>> language_of("Storms closed ports"), str(language_of("הנמל נסגר"))
    (Language(script='Latin', name=''), 'Hebrew script')
    """
    text = text[:LONGEST]
    scripts = Counter(map(script_of_letter, text))
    del scripts[""]
    script = max(scripts, key=lambda each: scripts[each], default="")
    words = WORD.findall(text.lower())
    counts = Counter(language for word in words for language in LANGUAGES_OF.get(word, ()))
    best = counts.most_common(2)
    if not best or best[0][1] < max(MIN_WORDS, MIN_SHARE * len(words)):
        return Language(script, "")
    tied = len(best) == 2 and best[0][1] == best[1][1]
    return Language(script, "" if tied else best[0][0])


def languages_of(texts: Iterable[str]) -> Counter[str]:
    """Return how many of the texts are in each language or script, as `str(Language)` names them.

    Texts in Latin script that are not recognized one by one, as short ones, are recognized together.

    >>> languages_of(["The port was closed by a storm.", "Closed!", "הנמל נסגר"])
    Counter({'English': 1, 'Hebrew script': 1, 'Latin script': 1})
    """
    counts: Counter[str] = Counter()
    unrecognized = []
    for text in texts:
        language = language_of(text)
        if language == ("Latin", ""):
            unrecognized.append(text[: LONGEST // 10])
        elif language.script:
            counts[str(language)] += 1
    if unrecognized:
        counts[str(language_of(" ".join(unrecognized)))] += len(unrecognized)
    return counts
