"""Allows the tests here to import `kept` and the modules of the examples."""

import programs  # noqa: F401
