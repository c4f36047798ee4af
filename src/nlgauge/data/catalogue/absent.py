"""Sets that the five papers use and nobody can load: what they are, and why not."""

from __future__ import annotations

from nlgauge.data.catalogue import Entry, Origin

CHECKLIST = "inimah/metric-preference-checklist"
FLUENCY = {"fluency": "1–5", "relevance": "chosen of two"}

ENTRIES = (
    Entry(
        name="uber-topic",
        title="UBER-PPLM, topic control (UBER-Topic)",
        task="controlled generation",
        aspects=FLUENCY,
        raters="three a text",
        licence="not known",
        cite="dathathri-etal-2020-plug",
        reference="Dathathri, Madotto, Lan, Hung, Frank, Molino, Yosinski, Liu (2020). Plug and Play "
        "Language Models: A Simple Approach to Controlled Text Generation. ICLR.",
        origins=(Origin("uber-research/PPLM", "unknown", "human_annotation/"),),
        papers=("000",),
        shape="14,626 rows",
        missing="No copy was found: the checklist authors released no UBER table, and the original is "
        "not in the mirror.",
    ),
    Entry(
        name="ctrl-topic",
        title="CTRL, topic control (CTRL-Topic)",
        task="controlled generation",
        aspects=FLUENCY,
        raters="three a text",
        licence="MIT (checklist table)",
        cite="keskar-etal-2019-ctrl",
        reference="Keskar, McCann, Varshney, Xiong, Socher (2019). CTRL: A Conditional Transformer "
        "Language Model for Controllable Generation. arXiv 1909.05858.",
        origins=(Origin(CHECKLIST, "26418cd69de81f6777f18f3f80c9ec990bb0b4a6", "data/ctrl_topic.csv"),),
        papers=("000",),
        shape="3,120 rows",
        missing="The mirror has no copy: the origin's table names its annotators. Fetch "
        "data/ctrl_topic.csv yourself and load it as a table (model, text, annotator, rating).",
    ),
    Entry(
        name="unieval-summ",
        title="UniEval's SummEval scores (UniEval-summ)",
        task="summarisation",
        aspects=dict.fromkeys(("coherence", "consistency", "fluency", "relevance", "overall"), "1–5, mean"),
        raters="means of 3 experts",
        licence="MIT",
        cite="zhong-etal-2022-towards",
        reference="Zhong, Liu, Yin, Mao, Jiao, Liu, Zhu, Ji, Han (2022). Towards a Unified "
        "Multi-Dimensional Evaluator for Text Generation. EMNLP.",
        origins=(Origin("maszhongming/UniEval", "d33e7b6", "reproduce/"),),
        papers=("000",),
        shape="16 systems × 100 articles",
        missing="UniEval's scores for SummEval are not in the mirror; outputs and ratings are those of "
        "'summeval'.",
    ),
    Entry(
        name="summeval-17",
        title="SummEval with 17 systems, one row a rater (summEval of paper 000)",
        task="summarisation",
        aspects=dict.fromkeys(("coherence", "consistency", "fluency", "relevance"), "1–5"),
        raters="3 experts and 5 crowd workers",
        licence="MIT",
        cite="fabbri-etal-2021-summeval",
        reference="Fabbri et al. (2021). SummEval: Re-evaluating Summarization Evaluation. TACL 9.",
        origins=(Origin("Yale-LILY/SummEval", "unknown", "model_annotations.aligned.jsonl"),),
        papers=("000",),
        shape="17 systems × 100 articles × 3 experts; 5,100 rows",
        missing="The original release (model_annotations.aligned.jsonl) is not in the mirror, nor are "
        "the experts' and crowd workers' single ratings of M0, M1, M2, M5; 'summeval' has 16 systems. "
        "Given the file, load it with its reader.",
    ),
    Entry(
        name="mans-wp",
        title="OpenMEVA, MANS-WP",
        task="story generation",
        aspects={"overall": "1–5, mean"},
        raters="mean of 5 crowd raters",
        licence="none stated",
        cite="guan-etal-2021-openmeva",
        reference="Guan et al. (2021). OpenMEVA: A Benchmark for Evaluating Open-ended Story Generation "
        "Metrics. ACL.",
        origins=(Origin("thu-coai/OpenMEVA", "unknown"),),
        papers=("002",),
        shape="5 systems × 200 prompts",
        missing="No public copy was found; the other half, MANS-ROC, is 'openmeva'.",
    ),
    Entry(
        name="tac11",
        title="TAC 2011 guided summarisation, scores",
        task="summarisation",
        aspects={"pyr": "0–1", "resp": "1–5"},
        raters="NIST assessors",
        licence="none stated",
        cite="owczarzak-dang-2011-overview",
        reference="Owczarzak, Dang (2011). Overview of the TAC 2011 Summarization Track: Guided Task "
        "and AESOP Task. TAC.",
        origins=(
            Origin(
                "PierreColombo/RankingNLPSystems",
                "c4e2c42f2d1ee3d95fc9a1767cf8924433b6408c",
                "final_df/TAC_11.csv",
            ),
        ),
        papers=("003",),
        shape="not known here",
        missing="Not in the mirror. Fetch final_df/TAC_11.csv yourself; its columns System and Utterance "
        "are the input and the system, in that order.",
    ),
    Entry(
        name="tac-texts",
        title="TAC 2008–2011 summaries and documents",
        task="summarisation",
        aspects={"pyr": "0–1", "resp": "1–5"},
        raters="NIST assessors",
        licence="by agreement with NIST",
        cite="dang-owczarzak-2008-overview",
        reference="Dang, Owczarzak (2008). Overview of the TAC 2008 Update Summarization Task. TAC.",
        origins=(Origin("AIPHES/emnlp19-moverscore", "unknown"),),
        papers=("003",),
        shape="not known here",
        missing="The texts are under an agreement with NIST and were deliberately not taken; their "
        "scores are 'tac08' and 'tac09'.",
    ),
    Entry(
        name="bagel-individual",
        title="Individual ratings behind BAGEL, SFHOTEL and SFREST",
        task="data-to-text",
        aspects=dict.fromkeys(("informativeness", "naturalness", "quality"), "1–6"),
        raters="3 crowd raters an output",
        licence="MIT",
        cite="novikova-etal-2017-need",
        reference="Novikova, Dušek, Cercas Curry, Rieser (2017). Why We Need New Evaluation Metrics for "
        "NLG. EMNLP.",
        origins=(Origin("jeknov/EMNLP_17_submission", "ed7b667", "emnlp_data_individual_hum_scores.csv"),),
        papers=("004",),
        shape="2,460 outputs, 3 raters",
        missing="emnlp_data_individual_hum_scores.csv is in no public copy that was found; the medians "
        "are 'bagel-sf', and 'rankme-likert-1' has individual ratings of a kindred set.",
    ),
    Entry(
        name="wmt23-he-en",
        title="WMT23 metrics task, Hebrew–English",
        task="machine translation",
        aspects={"mqm": "≤ 0, minus the weighted errors"},
        raters="experts",
        licence="GPL-3.0 (ErrorSpanAnnotation)",
        cite="freitag-etal-2023-results",
        reference="Freitag et al. (2023). Results of WMT23 Metrics Shared Task. WMT.",
        origins=(Origin("wmt-conference/ErrorSpanAnnotation", "e7f88b5", "data/mt-metrics-eval-v2/wmt23/"),),
        shape="10,660 rated outputs",
        missing="Not in the mirror, and none of the five papers uses it; the origin has it in "
        "mt-metrics-eval's layout.",
    ),
)
