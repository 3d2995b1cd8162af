"""Tests of `kept browse`: each runs the program without a terminal, on a store that another process changes."""
