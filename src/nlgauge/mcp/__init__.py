"""The program `python -m nlgauge.mcp`: a server for coding agents (`nlgauge.cli.mcp_server`)."""
