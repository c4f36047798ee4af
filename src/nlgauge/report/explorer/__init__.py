"""The explorer: a local page to look at single outputs behind the numbers.

Starlette and uvicorn, because the page needs five small JSON answers and nothing more: no build step, no session state on the
server, and plotly is already there for the drawing. Panel, Dash and Streamlit bring their own page, tens of megabytes and a running Python
callback per click.
"""
