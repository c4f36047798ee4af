"""The Python interface: the functions of `nlgauge` that need more than one package below.

questions: one function per analysis, and `select`; scores: metrics and judges on texts; listing: available names;
installation: its state; labeling: samples for human labeling; label_tasks: annotation files.
"""
