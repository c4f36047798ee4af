"""Tests: is a difference more than chance?"""
