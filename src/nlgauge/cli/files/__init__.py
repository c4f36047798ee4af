"""Verbs about files and sets: what is read as what, what there is."""
