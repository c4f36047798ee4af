"""The metric preference checklist (nimah2023)."""
