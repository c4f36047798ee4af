"""LLM judges: tasks and prompts, asking an endpoint, reading replies, what it costs."""
