"""Random typed programs, run here and by an installed TensorFlow or PyTorch, and compared statement by statement.

`values` draws numbers, `statements` is the table of calls, `draw` makes a program from a seed, `peers` runs a statement
in one library, `compare` reports differences, `answers` stores TensorFlow's results for machines without it.
"""
