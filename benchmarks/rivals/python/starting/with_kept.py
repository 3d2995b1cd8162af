import sys

import kept

folder, name = sys.argv[1:]
settings = kept.open(f"{folder}/settings.kept")
print(settings[kept.Key(name, int)], flush=True)
