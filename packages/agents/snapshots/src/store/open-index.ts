import { Database } from '@ws/tree/disk'

/** Stands for a turn that has no number yet: the last turn of a state that is still valid, or the turn of the latest scan. */
export const lasting = Number.MAX_SAFE_INTEGER

const tables = {
  schema: `
  CREATE TABLE IF NOT EXISTS trees (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, turn INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS entries (
    tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    type INTEGER NOT NULL, size INTEGER NOT NULL, mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,
    mtime REAL NOT NULL, ctime REAL NOT NULL, ino TEXT NOT NULL, birth REAL NOT NULL,
    content TEXT, target TEXT, links TEXT, unsettled INTEGER NOT NULL,
    PRIMARY KEY (tree, path, first)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entries_last ON entries (tree, last);
  CREATE INDEX IF NOT EXISTS entries_first ON entries (tree, first);
  CREATE TABLE IF NOT EXISTS unknown (tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (tree, path, first)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS kept (
    tree INTEGER NOT NULL, turn INTEGER NOT NULL, path TEXT NOT NULL, type TEXT, size INTEGER NOT NULL, mode INTEGER,
    mtime REAL, version TEXT NOT NULL, content TEXT, target TEXT, PRIMARY KEY (tree, path, turn)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS contents (
    content TEXT PRIMARY KEY, pack INTEGER NOT NULL, block INTEGER NOT NULL, length INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS checkpoints (
    id TEXT NOT NULL, tree INTEGER NOT NULL, turn INTEGER NOT NULL, label TEXT, created INTEGER NOT NULL,
    automatic INTEGER NOT NULL, PRIMARY KEY (id, tree)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS attributes (tree INTEGER NOT NULL, path TEXT NOT NULL, first INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (tree, path, first)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS loosened (tree INTEGER NOT NULL, path TEXT NOT NULL, mode INTEGER NOT NULL,
    PRIMARY KEY (tree, path)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS holds (tree INTEGER PRIMARY KEY, since TEXT NOT NULL, until TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS forks (tree INTEGER PRIMARY KEY, since TEXT NOT NULL, origin INTEGER NOT NULL, root TEXT NOT NULL);
`,
  version: 1,
}

export function openIndex(directory: string | undefined): Database {
  return new Database(directory, tables)
}
