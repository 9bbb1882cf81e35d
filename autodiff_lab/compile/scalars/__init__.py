"""Programs of single numbers: straight-line code with loops where lines repeat, or an interpreter."""
