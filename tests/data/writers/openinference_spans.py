"""What wrote openinference.jsonl and openinference_otlp.json: OpenInference's tracer, with annotations of three kinds."""

import json
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from openinference.instrumentation import TracerProvider
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

FACTS = {"France": ("Paris.", 1, 1), "Italy": ("Rome, I think.", 1, 0), "Spain": ("Barcelona", 0, 0)}
spans = []


class Collect(SpanExporter):
    def export(self, batch):
        spans.extend(batch)
        return SpanExportResult.SUCCESS


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(Collect()))
tracer = provider.get_tracer("capitals")
for country, (said, judge, person) in FACTS.items():
    with tracer.start_as_current_span("answer", openinference_span_kind="llm") as span:
        span.set_input(f"What is the capital of {country}?")
        span.set_output(said)
        span.set_attribute("llm.model_name", "model-a")
        span.set_attribute("llm.token_count.total", 12)
        annotations = [
            {"name": "correct", "score": float(judge), "annotator_kind": "LLM", "identifier": "my-judge"},
            {"name": "correct", "score": float(person), "annotator_kind": "HUMAN", "identifier": "ann"},
            {"name": "length", "score": len(said), "annotator_kind": "CODE"},
            {"name": "tone", "label": "polite" if person else "rude"},
        ]
        for i, annotation in enumerate(annotations):
            for key, value in annotation.items():
                span.set_attribute(f"annotations.{i}.annotation.{key}", value)
        with tracer.start_as_current_span("tokenize", openinference_span_kind="chain") as inner:
            inner.set_output("tokens")
Path("openinference.jsonl").write_text("".join(span.to_json(indent=None) + "\n" for span in spans))
Path("openinference_otlp.json").write_text(json.dumps(MessageToDict(encode_spans(spans))) + "\n")
