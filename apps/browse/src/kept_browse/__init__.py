"""`kept browse`: a full-screen browser of settings for the terminal. apps/browse/README.md is its guide.

Start it with `python -m kept_browse [STORE]`. It is a separate program: like any other, it uses only the public names
of `kept`.
"""
