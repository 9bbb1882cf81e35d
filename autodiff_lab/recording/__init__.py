"""Recorder, Recording, its printed and its wire form: reads events, knows no engine."""
