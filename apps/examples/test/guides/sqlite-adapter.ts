import { defineAdapter, keyValueDriver, type StorageAdapter } from '@ws/core/adapter'
import { DatabaseSync } from 'node:sqlite'

/** Files in one table of a database. It is the adapter's to close. */
export function createSqliteAdapter(file: string): StorageAdapter {
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID')
  const select = database.prepare('SELECT value FROM entries WHERE key = ?')
  const insert = database.prepare('INSERT INTO entries VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value')
  const remove = database.prepare('DELETE FROM entries WHERE key = ?')
  const below = database.prepare('SELECT key FROM entries WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1')
  const store = {
    get: (key: string) => select.get(key)?.['value'] as Uint8Array | undefined,
    set: (key: string, value: Uint8Array) => insert.run(key, value),
    delete: (key: string) => remove.run(key),
    keys: (prefix: string) => below.all(prefix).map(({ key }) => String(key)),
    close: () => database.close(),
  }
  return defineAdapter(keyValueDriver(store, { name: 'sqlite' }))
}
