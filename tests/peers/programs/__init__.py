"""Random typed programs, run here and by an installed TensorFlow or PyTorch, and compared statement by statement.

`values` draws numbers, `statements` is the table of calls, `draw` makes a program of a seed, `peers` runs a statement
somewhere, `compare` says what differs, `answers` keeps TensorFlow's answers for machines without it.
"""
