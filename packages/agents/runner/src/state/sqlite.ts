import { DatabaseSync, type StatementSync } from 'node:sqlite'

import { WorkspaceError } from '@ws/core'
import type { z } from 'zod'

import { damaged, endedAlready, journalVersion, otherVersion } from './faults.ts'
import type { Journal, LastState } from './journal.ts'
import {
  landedSchema,
  recordSchema,
  runSchema,
  type AttemptKey,
  type Landed,
  type RunRecord,
  type StepRecord,
} from './records.ts'

const tables = `
  CREATE TABLE runs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, record TEXT NOT NULL);
  CREATE TABLE steps (
    run TEXT NOT NULL, step TEXT NOT NULL, attempt INTEGER NOT NULL, state TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run, step, attempt)
  ) WITHOUT ROWID;
  CREATE INDEX landings ON steps (state) WHERE state = 'landing';
  CREATE TABLE landed (step TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${journalVersion};
`

/** A journal in one SQLite file for several processes. @throws WorkspaceError `EINVAL` of another version, `EIO` if damaged */
export function openSqliteJournal(file: string): Journal {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file)
    database.exec('PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL')
    prepareTables(database)
    return new SqliteJournal(database)
  } catch (error) {
    database?.close()
    throw error instanceof WorkspaceError ? error : damaged(error)
  }
}

function prepareTables(database: DatabaseSync): void {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() as { readonly user_version: number }
  const { quick_check: state } = database.prepare('PRAGMA quick_check(1)').get() as { readonly quick_check: string }
  if (state !== 'ok') throw damaged()
  if (found === journalVersion) return
  database.exec('BEGIN EXCLUSIVE')
  const { user_version: now } = database.prepare('PRAGMA user_version').get() as { readonly user_version: number }
  if (now === 0) database.exec(tables)
  database.exec('COMMIT')
  if (now === 0 || now === journalVersion) return
  throw otherVersion(now)
}

class SqliteJournal implements Journal {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  async lastRun(): Promise<RunRecord | undefined> {
    return this.#rows(runSchema, 'SELECT record FROM runs ORDER BY number DESC LIMIT 1')[0]
  }

  async saveRun(run: RunRecord): Promise<void> {
    const sql =
      'INSERT INTO runs (number, id, record) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record'
    this.#run(sql, run.number, run.runId, JSON.stringify(run))
  }

  async find({ runId, stepId, attempt }: AttemptKey): Promise<StepRecord | undefined> {
    const sql = 'SELECT record FROM steps WHERE run = ? AND step = ? AND attempt = ?'
    return this.#rows(recordSchema, sql, runId, stepId, attempt)[0]
  }

  async records(runId: string): Promise<StepRecord[]> {
    return this.#rows(recordSchema, 'SELECT record FROM steps WHERE run = ?', runId)
  }

  async saveLanding(record: StepRecord): Promise<void> {
    this.#transaction(true, () => this.#put(record))
  }

  async saveEnd(record: StepRecord, landed?: Landed): Promise<void> {
    // After a power failure, a step without files runs again. Files in the output must never lack their record.
    this.#transaction(record.entries.length > 0, () => {
      this.#put(record)
      if (landed === undefined) return
      const sql = 'INSERT OR REPLACE INTO landed (step, record) VALUES (?, ?)'
      this.#run(sql, landed.stepId, JSON.stringify(landed))
    })
  }

  async dropFailures(runId: string): Promise<StepRecord[]> {
    this.#run("DELETE FROM steps WHERE run = ? AND record ->> '$.outcome.state' = 'failed'", runId)
    return (await this.records(runId)).filter(({ state }) => state === 'ended')
  }

  async openLandings(): Promise<StepRecord[]> {
    return this.#rows(recordSchema, "SELECT record FROM steps WHERE state = 'landing'")
  }

  async last(stepId: string): Promise<LastState> {
    return { landed: this.#rows(landedSchema, 'SELECT record FROM landed WHERE step = ?', stepId)[0] }
  }

  async allLanded(): Promise<Landed[]> {
    return this.#rows(landedSchema, 'SELECT record FROM landed')
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close()
  }

  #put(record: StepRecord): void {
    const { runId, stepId, attempt, state } = record
    const sql = `INSERT INTO steps (run, step, attempt, state, record) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (run, step, attempt) DO UPDATE SET state = excluded.state, record = excluded.record
      WHERE steps.state = 'landing'`
    const changes = this.#run(sql, runId, stepId, attempt, state, JSON.stringify(record))
    if (changes === 1) return
    throw endedAlready(record)
  }

  #transaction(durable: boolean, change: () => void): void {
    this.#database.exec(`PRAGMA synchronous = ${durable ? 'FULL' : 'NORMAL'}; BEGIN IMMEDIATE`)
    try {
      change()
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error instanceof WorkspaceError ? error : damaged(error)
    }
  }

  #rows<Schema extends z.ZodType>(schema: Schema, sql: string, ...values: (string | number)[]): z.output<Schema>[] {
    try {
      const rows = this.#statement(sql).all(...values) as { readonly record: string }[]
      return rows.map(({ record }) => schema.parse(JSON.parse(record)))
    } catch (error) {
      throw damaged(error)
    }
  }

  #run(sql: string, ...values: (string | number)[]): number {
    return Number(this.#statement(sql).run(...values).changes)
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, known)
    return known
  }
}
