"""Deng et al. 2021, Compression, transduction, and creation: a unified framework for evaluating natural language
generation.
"""
