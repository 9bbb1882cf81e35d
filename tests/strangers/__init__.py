"""The package as new users see it: programs written for other libraries, mistakes, and rough handling."""
