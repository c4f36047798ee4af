"""Nimah et al. 2023, NLG evaluation metrics beyond correlation analysis: an empirical metric preference checklist."""
