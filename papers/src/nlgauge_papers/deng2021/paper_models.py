"""The models of Deng et al. (2021), where a user has them (`nlgauge reproduce deng2021 --weights`).

A model is searched in the folder of `--models` (by name, with or without its owner), then where the metric
searches: in this machine's cache, and on the hub. The authors' checkpoints of D and R are searched in the folder that
their package ctc_score fills. The reason of a cell says what it needs and where it was searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nlgauge import NlgaugeError
from nlgauge.metrics import Batch, CachedRunner, Store, metric_from_spec
from nlgauge_papers import NeedsWeights, Sources
from nlgauge_papers.common import Array

CTC_SCORE = Path("~/.cache/ctc_score_models")  # where the authors' package puts its checkpoints
FORMULAS = {
    "consistency": "mean(y>x)",
    "relevance": "mean(r>y) * mean(y>x)",
    "preservation": "harmonic(mean(y>x), mean(x>y))",
    "engagingness": "sum(y>[x,c])",
    "groundedness": "sum(y>c)",
}
NOT_RUN = "the models of USR for this data set; on Topical-Chat the scores that its authors published are used"
BERT, ROBERTA, NLI = "bert-base-uncased", "roberta-large", "roberta-large-mnli"


@dataclass(frozen=True)
class PaperModel:
    """A metric with places for its models: `{0}`, `{1}` … stand for the models of that name."""

    spec: str
    models: tuple[str, ...]


def embedding(encoder: str, layer: str = "") -> str:
    """Return the metric E of the paper with an encoder; the formula is filled in by aspect."""
    return f"align-expr(expr='FORMULA', encoder='{encoder}'{layer})"


# As ctc_score has them: E_MODEL_CONFIGS, and layers as in the package bert_score.
ROWS = {
    "Ours (E) (BERT-base)": PaperModel(embedding("{0}", ", layer=9"), (BERT,)),
    "Ours (E) (RoBERTa-large)": PaperModel(embedding("{0}", ", layer=17"), (ROBERTA,)),
    "Ours (E) (RoBERTa-large-MNLI-9)": PaperModel(embedding("{0}", ", layer=9"), (NLI,)),
    "BERTScore (base)": PaperModel("bertscore(encoder='{0}', layer=9)", (BERT,)),
    "BERTScore (large)": PaperModel("bertscore(encoder='{0}', layer=17)", (ROBERTA,)),
    "BERTScore": PaperModel("bertscore(encoder='{0}', layer=9)", (BERT,)),
    "BERTScore-f": PaperModel("bertscore(encoder='{0}', layer=9)", (BERT,)),
    "MoverScore": PaperModel("moverscore(encoder='{0}')", (BERT,)),
    "BLEURT": PaperModel("bleurt(model='{0}')", ("Elron/bleurt-base-512",)),
    "FED-Interesting": PaperModel("fed(aspect='interesting', lm='{0}')", ("microsoft/DialoGPT-large",)),
    "FED-Informative": PaperModel("fed(aspect='informative', lm='{0}')", ("microsoft/DialoGPT-large",)),
    "FED": PaperModel("fed(lm='{0}')", ("microsoft/DialoGPT-large",)),
    "FactCC-prob": PaperModel("factcc(model='{0}')", ("manueldeprada/FactCC",)),
    "SUPERT": PaperModel("supert(encoder='{0}')", ("sentence-transformers/bert-large-nli-stsb-mean-tokens",)),
    "BLANC": PaperModel("blanc-help(mlm='{0}')", (BERT,)),
    "SummaQA-prob": PaperModel("summaqa(of='prob', entities='{0}', qa='{1}')", (
        "dslim/bert-base-NER", "bert-large-uncased-whole-word-masking-finetuned-squad")),
    "SummaQA-f": PaperModel("summaqa(of='f', entities='{0}', qa='{1}')", (
        "dslim/bert-base-NER", "bert-large-uncased-whole-word-masking-finetuned-squad")),
    "QAGS": PaperModel("qags(qg='{0}', entities='{1}', qa='{2}')", (
        "valhalla/t5-base-qg-hl", "dslim/bert-base-NER", "bert-large-uncased-whole-word-masking-finetuned-squad")),
}  # fmt: skip
# The authors' trainings of D and R, as ctc_score names them.
TRAININGS = {"CNN/DM": "cnndm", "XSUM": "xsum", "PersonaChat": "persona_chat", "TopicalChat": "topical_chat"}


def places(sources: Sources) -> list[Path]:
    """Return the folders in which models are looked for by name."""
    given = [Path(sources.models).expanduser()] if sources.models else []
    return [*given, CTC_SCORE.expanduser()]


def place_of(sources: Sources, name: str) -> str:
    """Return the folder of a model, or its name, so that the metric looks in the cache and on the hub."""
    for folder in places(sources):
        for written in (name, name.replace("/", "--"), name.rpartition("/")[2]):
            if (folder / written).exists():
                return str(folder / written)
    return name


def trained(row: str, aspect: str, default: str) -> PaperModel | None:
    """Return the metric of a row of D or R with the authors' checkpoints."""
    if not row.startswith(("Ours (D)", "Ours (R)")):
        return None
    named = row[len("Ours (D)") :].strip(" ()")
    checkpoint = f"{row[6]}-{TRAININGS.get(named, default)}"
    return PaperModel(f"ctc(aspect='{aspect}', align='{row[6]}', weights='{{0}}')", (checkpoint,))


def paper_scores(sources: Sources, row: str, aspect: str, batch: Batch, default: str = "") -> Array | NeedsWeights:
    """Score with the paper's model of a row, or say what was looked for and where.

    `default`: the training of D and R where the row does not name one (yelp).
    """
    model = ROWS.get(row) or trained(row, aspect, default)
    if model is None:
        return NeedsWeights(NOT_RUN)
    names = ", ".join(model.models)
    if not sources.weights:
        return NeedsWeights(f"needs {names}: `nlgauge reproduce --weights` searches for it")
    results = [place_of(sources, name) for name in model.models]
    missing = [n for n, place in zip(model.models, results, strict=True) if n == place and n.startswith(("D-", "R-"))]
    looked = ", ".join(str(p) for p in places(sources))
    if missing:
        return NeedsWeights(f"looked for {', '.join(missing)} (the authors' checkpoints, ctc_score) in {looked}")
    spec = model.spec.replace("FORMULA", FORMULAS.get(aspect, "mean(y>x)")).format(*results)
    try:
        metric = metric_from_spec(spec)
        metric.ready()
        sources.tell(spec)
        return CachedRunner(Store(sources.store)).score(metric, batch).values
    except NlgaugeError as error:
        return NeedsWeights(f"looked for {names} in {looked}, the cache and the hub: {error}")
