"""LLM judges: tasks and prompts, requests to an endpoint, parsing of replies, and cost."""
