"""LLM judges: agreement, biases, drift, panels of judges, position effects and repeated trials."""
