import sys

import lmdb

folder, name = sys.argv[1:]
environment = lmdb.open(folder, map_size=1 << 28, sync=False)
with environment.begin() as transaction:
    print(int(transaction.get(name.encode())), flush=True)
