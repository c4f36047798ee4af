"""Text processing: tokens, stems, sentences, WordNet, syllables, word lists, perturbations. No model, no metric."""
