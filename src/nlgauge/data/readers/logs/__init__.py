"""Logs of evaluation tools: what was asked, what was answered, what each scorer or person said of it."""
