"""How fast is it, against what people use?  `make bench` measures it and writes docs/performance.md.

``cases`` are the programs, one a file, each written for every library; ``libraries`` is how each library is called;
``probes`` measure what only this engine has.  ``worker`` runs one library in a process of its own, ``rounds`` lets
several take turns, and ``page`` and ``picture`` tell the figures.  The ``bench_*.py`` files are our own history.
"""
