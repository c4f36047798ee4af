"""The Python interface: the functions that `nlgauge` offers beside those of the rooms below.

questions: one function per question, and `select`; scores: metrics and judges on texts; listing: what there is;
installation: doctor; labelling: what people should label next, label_tasks: the file for them.
"""
