"""The metric preference checklist (Nimah et al. 2023)."""
