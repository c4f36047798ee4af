"""Logs of evaluation tools: inputs, outputs, and the judgments of every scorer and annotator."""
