"""What every program in Python pays."""

print(1, flush=True)
