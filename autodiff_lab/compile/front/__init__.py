"""The front end: calls of a compiled function, its trace, and the guards of what it reached."""
