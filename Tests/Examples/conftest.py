"""Lets every test here import `kept` and the modules of the examples."""

import programs  # noqa: F401
