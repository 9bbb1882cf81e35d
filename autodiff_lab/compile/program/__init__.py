"""Programs: what a trace recorded, line by line, and the passes that rewrite it."""
