"""The MCP server: `python -m nlgauge.mcp` (see `nlgauge.cli.mcp_server`)."""

from nlgauge.cli.mcp_server import main

if __name__ == "__main__":
    main()
