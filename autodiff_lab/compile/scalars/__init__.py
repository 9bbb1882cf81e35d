"""Programs of single numbers: straight-line code in which repetitions are loops, or an interpreter."""
