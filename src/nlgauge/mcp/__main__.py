"""Start the MCP server: `python -m nlgauge.mcp`."""

from nlgauge.cli.mcp_server import main

main()
