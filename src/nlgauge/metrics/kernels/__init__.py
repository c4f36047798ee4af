"""Loops over integer tokens, compiled by numba on first use and cached; arrays in, arrays out.

Import a module of this folder inside the function that runs it: `import nlgauge` and `nlgauge list` stay quick.
Each kernel works on one core and lets go of the interpreter, so several batches can be scored at once by threads.
"""
