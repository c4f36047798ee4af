"""Views and changes of texts: tokens, stems, sentences, WordNet, syllables, word lists, controlled damage. No model,
no metric.
"""
