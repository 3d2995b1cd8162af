"""The cost of every Python program."""

print(1, flush=True)
