"""What networks compute: values against NumPy and SciPy, refusals, kinks."""
