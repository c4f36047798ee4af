"""Views and changes of texts: tokens, stems, sentences, WordNet, syllables, word lists, damage. No model, no metric."""
