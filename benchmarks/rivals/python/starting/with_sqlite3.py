import sqlite3
import sys

folder, name = sys.argv[1:]
connection = sqlite3.connect(f"{folder}/values.sqlite", isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("CREATE TABLE IF NOT EXISTS setting (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID")
(value,) = connection.execute("SELECT value FROM setting WHERE key = ?", (name,)).fetchone()
print(value, flush=True)
