"""Colombo et al. 2023, The glass ceiling of automatic evaluation in natural language generation."""
