import json
import sys

folder, name = sys.argv[1:]
with open(f"{folder}/values.json") as file:
    values = json.load(file)
print(values[name], flush=True)
