"""Programs: what a trace heard, line by line, and what is rewritten before code is made of it."""
