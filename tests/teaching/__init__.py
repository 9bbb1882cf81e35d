"""Tests of engines that are wrong on purpose, of replays, and of the detective."""
