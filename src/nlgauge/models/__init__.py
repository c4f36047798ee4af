"""Models: finding, loading and running them once for all metrics. torch and transformers are imported lazily."""
