import sys

import diskcache

folder, name = sys.argv[1:]
cache = diskcache.Cache(folder)
print(cache[name], flush=True)
