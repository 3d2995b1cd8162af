import shelve
import sys

folder, name = sys.argv[1:]
shelf = shelve.open(f"{folder}/values")
print(shelf[name], flush=True)
