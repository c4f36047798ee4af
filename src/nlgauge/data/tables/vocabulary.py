"""The names by which roles of columns are inferred, as data; add a name here to have it recognized."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

# In order of preference; compared in lower case, with letters and digits only.
NAMES: dict[str, tuple[str, ...]] = {
    "system": ("system", "systemid", "systemname", "sys", "sysid", "sysname", "model", "modelid", "modelname", "llm",
               "llmname", "llmid",
               "llmmodel",
               "team", "generator", "summarizer", "systemorigincolutterance", "modelversion", "candidatemodel",
               "candidatesystem", "chatbot"),
    "input": ("input", "inputid", "segid", "seg", "segment", "segmentid", "docid", "doc", "documentid", "sampleid",
              "itemid", "item", "articleid", "contextid", "promptid", "promptidx", "questionid", "sourceid", "mrid",
              "inputindexorigincolsystem", "docindex", "exampleid", "instanceid", "topicid", "queryid", "qid", "taskid",
              "testid",
              "caseid", "testcase", "case", "dialogid", "dialogueid", "conversationid", "chatid", "ticketid",
              "problemid", "passageid",
              "sentenceid", "sentid",
              "storyid", "imageid", "recordid", "entryid", "inputno", "textid", "utt", "utterance", "utteranceid",
              "uttid", "test", "testname", "id", "i", "traceid", "requestid", "messageid", "rowid", "uuid", "uid",
              "hash"),
    "output": ("output", "systemoutput", "hypothesis", "hyp", "candidate", "response", "generated", "generation",
               "generatedtext", "prediction", "decoded", "systemsummary", "syssumm", "sysref", "summary", "story",
               "translation", "target", "outputtext", "text", "answer", "completion", "reply", "modeloutput",
               "llmoutput",
               "modelresponse", "llmresponse", "systemresponse", "modelanswer", "generatedanswer", "generatedsummary",
               "actual",
               "actualoutput", "mt", "mtoutput", "claim", "simplification", "simplified", "paraphrase", "caption",
               "headline"),
    "source": ("source", "src", "sourcetext", "article", "document", "original", "mr", "meaningrepresentation",
               "prompt", "prefix", "question", "triples", "instruction", "query", "inputtext", "history",
               "dialoguehistory", "dialoghistory",
               "dialogue", "dialog", "conversation", "conversationhistory", "chathistory", "dialoguecontext", "doc",
               "input"),
    "context": ("context", "fact", "facts", "knowledge", "persona", "history", "dialoguehistory", "dialoghistory"),
    "control": ("control", "attribute", "targetstyle", "topic", "sentiment"),
    "rater": ("rater", "raterid", "annotator", "annotatorid", "annotatorname", "annotators", "worker", "workerid",
              "judge", "judgeid",
              "expert", "coder", "ratername", "ratedby", "annotatedby", "reviewer", "reviewerid", "assessor", "labeler",
              "labeller",
              "user", "userid"),
    "aspect": ("aspect", "dimension", "criterion", "criteria"),
    "rating": ("rating", "humanscore", "humanrating", "value", "score", "label"),
    "metric": ("metric", "metricname", "evaluator"),
    "score": ("metricscore", "metricvalue", "score", "value"),
}  # fmt: skip
# Names that imply a role only if the column has names: few, short, and not all different.
SOFT: dict[str, tuple[str, ...]] = {
    "system": ("mt", "engine", "enginename", "checkpoint", "ckpt", "variant", "method", "methodname", "approach",
               "agent", "agentname",
               "assistant", "bot", "botname", "submission", "provider", "candidate", "candidatename", "run", "runid",
               "runname",
               "experiment", "configuration", "config", "setup", "version", "policy"),
    "input": ("example", "sample", "dialog", "dialogue", "conversation"),
    "rater": ("expert", "user", "grader", "respondent", "participant", "participantid", "username", "emailaddress"),
}  # fmt: skip
# Texts, unless the column has numbers: then they number the inputs.
NUMBERED = ("document", "article", "prompt", "question", "query", "source", "src")
# Names of inputs, unless the column has texts: then these are the sources.
TEXTS = ("doc", "input")
# Texts, unless the column has single words and there is an ID column: then they group several inputs.
SHARED = ("conversation", "dialogue", "dialog", "document", "article")
# Words that mark a system in a longer name, such as a question of a form.
ABOUT = {"system": frozenset("system model llm".split())}
REFERENCES = re.compile(
    r"^(references?|refs?|ref_?summs?|gold|golds?|target_?ref\w*|expected(?:_?(?:output|answer|response))?|"
    r"ground_?truth|ideal)([ _.-]?\w{0,2})$",
    re.I,
)
# Several data sets in one file: their inputs are distinct.
SETS = ("dataset", "subset", "corpus", "lp", "langpair", "languagepair", "lang", "language", "task")
# Columns that number the trials of one input, also as `trial_id` or `Run No.`.
TRIALS = frozenset("epoch trial attempt sample run seed repeat repetition replicate iteration rollout".split())
_TRIAL = re.compile(rf"^({'|'.join(sorted(TRIALS))})s?(id|idx|index|no|num|number|name)?$")
_TRIAL_VALUE = re.compile(rf"^(({'|'.join(sorted(TRIALS))}|r|s|t)?[ _.#-]*)?\d+(\.0)?$", re.I)
ASPECTS = frozenset(
    """
    coherence coherent consistency consistent fluency fluent relevance relevant informativeness informative
    naturalness natural quality overall engagingness engaging engagement groundedness grounded
    understandability understandable maintainscontext useknowledge usesknowledge interestingness interesting
    adequacy grammaticality grammar readability correctness datacoverage coverage textstructure empathy
    surprise complexity factuality faithfulness accuracy helpfulness harmlessness preservation
    contentpreservation meaning simplicity styletransferintensity mqm da dasqm esa pyramid pyr responsiveness
    resp litepyramidrecall attributerelevance appropriateness humanlikeness sensibleness specificity
    diversity creativity toxicity conciseness completeness constructedquality satisfaction clarity
    repetitiveness nonredundancy focus structureandcoherence referentialclarity semanticadequacy semantics mqmavgscore
    mos smos cmos dmos stars star rating ratings likert preference usefulness useful helpful politeness
    safety style tone verbosity novelty logicality depth likability likeability intelligibility acceptability
    comprehensibility succinctness instructionfollowing truthfulness honesty acceptable faithful
    factual accurate appropriate grammatical readable adequate overallquality overallscore
    overallrating generalquality sqm dascore humanjudgment humanjudgement judgment judgement
    """.split()
)
# Metrics have these names, too: such a column is read as a rating with a note.
DOUBTFUL = frozenset(
    "accuracy coverage diversity toxicity readability complexity simplicity correctness factuality specificity "
    "repetitiveness".split()
)
HUMAN_PREFIX = re.compile(
    r"^(human(?:s|_?mean|_?scores?|_?ratings?)?|h|ratings?|annotations?|released_mean|gold_scores?)[:._ "
    r"]+(?=\S)(?!\d+$)|^human(?=[A-Z])",  # rating_1 and rating_2 are annotators, not aspects
    re.I,
)
METRIC_PREFIX = re.compile(
    r"^(metrics?\w*|m|auto|automatic|predict(?:ed)?_?scores?|predictions?|metric_scores?)[:._ ]+(?=\S)", re.I
)
SCORES_PREFIX = re.compile(r"^(scores?)[:._ ]+(?=\S)(?!\d+$)", re.I)
ASIDE = re.compile(
    r"^(|row|index|idx|unnamed.*|no|number|line|position|seed|size|n_.*|num_.*|_.*|.*_?(id|idx|index)|(.*_)?(time(stamp)?|date)|year"
    r"|(created|updated|started|ended)(_?at)?|duration|elapsed.*|latency.*|cost.*|price.*|temperature|top_?[pk]|(.*_)?tokens|rank(ing)?"
    r"|label_(probability|stratum|round)|annotators|raters)$",  # sampling design of a labeled row
    re.I,
)
# Resources and settings of a run: never a metric, whatever precedes the dot.
TELEMETRY = re.compile(
    r"^((.*_)?tokens|start|end|((estimated|total|prompt|completion|input|output)_)?(costs?|price|usd)|(.*_)?cost(_usd)?"
    r"|(.*_)?latency(_m?s)?|(.*_)?duration(_m?s)?|elapsed(_.*)?|(time_to_)?first_token(_.*)?|(llm|tool|api|model|function)_?"
    r"(calls|errors|retries)|calls|retries|(.*_)?(epochs?|trials?|attempts?|seeds?)|repeat|repetition|line(_?(no|number))?"
    r"|(.*_)?timestamp|(created|updated|started|ended|completed)(_?at)?)$",
    re.I,
)
# Words around an aspect that mark human ratings (STRONG), or may mark them if nothing else does (WEAK).
STRONG = frozenset(
    """avg average mean median human humans people person rating ratings rated annotation annotations annotated
    annotator rater expert reviewer labeler labeller crowd manual sme user users customer likert gold ground
    truth raw individual majority""".split()
)
# Those of them that mark a person.
PERSONS = frozenset(
    """human humans people person annotation annotations annotated annotator rater expert reviewer labeler labeller
    crowd manual sme user users customer gold ground truth""".split()
)
# Comments on a verdict are not verdicts, even if they are one word.
REMARKS = frozenset(
    "comment comments note notes remark remarks reason reasons reasoning rationale explanation critique "
    "justification".split()
)
# Words that annotators use more than judges do.
LABELS = frozenset("label labels feedback thumbs vote".split())
WEAK = frozenset(
    "score scores label labels labelled labeled verdict grade judgment judgement vote correct pass passed thumbs "
    "feedback".split()
)
FILLERS = frozenset(
    "your my our the a an of by for how is was would you please rate out this overall on scale points".split()
)
# Statistics of ratings, which are not ratings.
SPREADS = frozenset("std sd stdev stddev var variance se sem ci count n range min max iqr".split())
ZSCORES = frozenset("z zs zscore zscores znorm znormalized znormalised standardized standardised".split())
# Words that name a program; `coherence_unieval` is a metric of coherence.
PROGRAMS = re.compile(
    r"^(?:gpt|chatgpt|llm|claude|gemini|llama|mi[sx]tral|qwen|deepseek|palm|prometheus|judge|auto|model|predict|machine|bot$|pipeline|ai$"
    r"|bleu|sacrebleu|rouge|meteor|chrf|ter$|[wc]er$|bert|comet|unieval|geval|eval|mover|bart|quest|summac|factcc|align|cider|spice|nist$"
    r"|perplex|ppl|nll|f1|precision|recall|mauve|distinct|entail|nli|cos(ine)?$|sim(ilarity)?$|embed|em$|exact|match|usr|ctc|ctrl|fed$"
    r"|blanc|supert|estime|s3|js\d*$|t5|xlm|roberta|metric|score|loss|prob|logit|length|len$|norm(ali[sz]ed)?$|raw$|old$|new$|v\d"
    r"|seg$|sys$|doc$|refs?$|src$|free$)",
    re.I,
)
WHO = frozenset(
    "rater annotator expert worker coder reviewer labeler labeller crowd sme user customer participant r a ann "
    "by from of human".split()
)
# `(1-5)`, `(1 to 5)`, `(1 = bad, 5 = good)` at the end of a heading.
SCALE = re.compile(
    r"\s*[(\[][^()\[\]\d]*(\d+)\b[^()\[\]\d]*?(?:-|–|—|to|\.\.|,|;|/)[^()\[\]\d]*(\d+)\b[^()\[\]\d]*[)\]]\s*$", re.I
)
# Names that are not those of systems.
ANSWERED = frozenset("winner preference preferred choice vote label verdict answer comment comments note notes".split())


def plain(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


PARTS = frozenset("step turn claim rubricitem item part segment".split())
_PART = re.compile(rf"^({'|'.join(sorted(PARTS))})s?(id|idx|index|no|num|number|name)?$")
POINTS = frozenset("points weight maxpoints itempoints itemweight pointvalue".split())  # of a rubric item


def names_part(column: str) -> bool:
    """Return whether a column is named after parts of an output.

    >>> names_part("step_id"), names_part("Claim"), names_part("turn"), names_part("steps_correct")
    (True, True, True, False)
    """
    return bool(_PART.match(plain(column.rpartition(".")[2])))


def names_trial(column: str) -> bool:
    """Return whether a column is named after trials.

    >>> names_trial("epoch"), names_trial("Trial No."), names_trial("response.seed"), names_trial("trial_score")
    (True, True, True, False)
    """
    return any(_TRIAL.match(plain(name)) for name in (column, column.rpartition(".")[2]) if plain(name))


def is_trial_value(value: str) -> bool:
    """Return whether a value can only number a trial: a whole number, or such a word with a number.

    >>> is_trial_value("3"), is_trial_value("run_2"), is_trial_value("gpt-4")
    (True, True, False)
    """
    return bool(_TRIAL_VALUE.match(value.strip()))


def column_of(role: str, columns: Iterable[str]) -> str | None:
    """Return the first column whose name matches the given role.

    >>> column_of("system", ["id", "Model", "text"])
    'Model'
    """
    named = {plain(column): column for column in reversed(list(columns))}
    return next((named[word] for word in NAMES[role] if word in named), None)


def label_text(value: Any) -> str:
    """Return a value as the name of a system, an input or an annotator: 3.0 is '3'."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def tokens(name: str) -> list[str]:
    """Split a column's name into words, at punctuation and before capitals.

    >>> tokens("humanScore (Bob)")
    ['human', 'Score', 'Bob']
    """
    return [t for t in re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)) if t]


def words_of(name: str) -> set[str]:
    """Return the words of a column's name in lower case.

    >>> sorted(words_of("Human Label"))
    ['human', 'label']
    """
    return {word.lower() for word in tokens(name)}


def listed(names: Sequence[str], most: int = 40) -> str:
    """Join names for a message, and shorten the list after `most` names.

    >>> listed(["a", "b", "c"], 2)
    'a, b, … (3 in all)'
    """
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names):,} in all)" if len(names) > most else shown


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Quote and join names for a message.

    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    return listed([f"'{name}'" for name in names], most)


def metric_names(columns: Sequence[str]) -> dict[str, str]:
    """Return name -> column, without prefixes such as `metric.`."""
    names = {METRIC_PREFIX.sub("", SCORES_PREFIX.sub("", c)): c for c in columns}
    if len(names) < len(columns):  # two prefixes, one name
        return {c: c for c in columns}
    return names
