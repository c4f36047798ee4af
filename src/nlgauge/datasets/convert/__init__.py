"""Converters: from the files of an origin to the file that a loader reads, one function per file.

Each takes the origin's files by path and returns the content of the converted file. Nothing of an origin is executed:
pickles are read with `pickled`, which builds only plain values.
"""
