import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

import { failed, nativeFailure } from '../errors.ts'

export interface DatabaseOptions {
  /** Statements that create missing tables. */
  readonly schema: string
  /** The version of the tables. Increases with each change that older versions cannot read. */
  readonly version: number
}

/** The index of a state directory. Only one process can open it: SQLite has a lock, which the kernel releases at the process's end. */
export class Database {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  /** @param directory if absent, the index is in memory @throws WorkspaceError `EBUSY` if another process uses it; `EIO` if damaged */
  constructor(directory: string | undefined, { schema, version }: DatabaseOptions) {
    const path = directory === undefined ? ':memory:' : join(directory, 'index.db')
    try {
      if (directory !== undefined)
        closeSync(openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600))
      this.#database = new DatabaseSync(path)
    } catch (error) {
      throw nativeFailure(error)
    }
    try {
      this.#database.exec(
        'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF', // @defence `PRAGMA locking_mode…; ` two processes: one process at a time
      )
      this.#database.exec('BEGIN IMMEDIATE')
      const { user_version: found } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number }
      if (found > version) throw failed('EINVAL', 'the state directory was written by a newer version of this package')
      this.#database.exec(`${schema}; PRAGMA user_version = ${version}; COMMIT`)
    } catch (error) {
      this.#database.close()
      throw nativeFailure(error)
    }
  }

  all<Row>(sql: string, ...values: readonly Value[]): Row[] {
    return this.#run(sql, (statement) => statement.all(...values) as Row[])
  }

  get<Row>(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#run(sql, (statement) => statement.get(...values) as Row | undefined)
  }

  run(sql: string, ...values: readonly Value[]): void {
    this.#run(sql, (statement) => statement.run(...values))
  }

  /** Runs `work` in a transaction. Keeps all of its changes or none, even if the process is killed. */
  transaction<Result>(work: () => Result): Result {
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      try {
        this.run('ROLLBACK')
      } catch {
        // SQLite has already rolled back, for example after a full disk
      }
      throw nativeFailure(error)
    }
  }

  close(): void {
    this.#database.close()
  }

  #run<Result>(sql: string, work: (statement: StatementSync) => Result): Result {
    try {
      let statement = this.#statements.get(sql)
      if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)))
      return work(statement)
    } catch (error) {
      throw nativeFailure(error)
    }
  }
}

type Value = string | number | null
