"""`kept browse`: a full-screen browser of settings for the terminal. docs/guide/browse.md is its guide.

Start it with `python -m kept.browse [STORE]`. It needs Textual, which the package's extra `browse` installs. It is a
program and not part of the interface: it uses `import kept` as any other program does, and nothing of it that begins
with an underscore.
"""
