"""The C interface as ctypes sees it: one module for each section of kept.h, under the section's name.

Nothing here knows more than the header. A test compares every declaration with it, both ways.
"""
