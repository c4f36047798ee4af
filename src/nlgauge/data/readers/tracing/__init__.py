"""Exports of tracing tools: outputs, and feedback, annotations and scores of them."""
