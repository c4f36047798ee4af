"""Side-by-side benchmarks; see __main__.py."""
