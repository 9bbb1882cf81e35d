"""Benchmarks against other libraries: `make bench` measures them and writes docs/performance.md.

``cases`` are the programs, one per file, each written for every library; ``libraries`` is how each library is called;
``probes`` measure features that only this engine has.  ``worker`` runs one library in a separate process, ``rounds``
lets several take turns, and ``page`` and ``picture`` show the figures.  The ``bench_*.py`` files track our own timings.
"""
