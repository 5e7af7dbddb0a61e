import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'

import type { createServer } from '../server/create-server.ts'
import { loadSkills } from '../server/skills.ts'
import { createSource, type Source } from '../source/source.ts'
import { uriOf } from '../source/uris.ts'
import type { HttpOptions, Subject, SubjectWorkspace } from './types.ts'

export interface SubjectServer {
  readonly opened: SubjectWorkspace
  readonly handler: McpHttpHandler
  readonly source: Source
}

interface Entry {
  readonly served: Promise<SubjectServer>
  readonly end: () => Promise<void>
  uses: number
  timer?: NodeJS.Timeout
}

export type MakeServer = typeof createServer

interface SubjectsHooks {
  readonly maxStreams: number
  readonly makeServer: MakeServer
  readonly report: (error: unknown) => void
}

/** Limit of unused workspaces that remain open. */
const maxIdle = 100

/** Opens a subject's workspace on demand, and closes it when idle. */
export class Subjects {
  readonly #options: HttpOptions
  readonly #hooks: SubjectsHooks
  readonly #entries = new Map<string, Entry>()
  readonly #ending = new Set<Promise<void>>()

  constructor(options: HttpOptions, hooks: SubjectsHooks) {
    this.#options = options
    this.#hooks = hooks
  }

  /** Keeps a subject's workspace open during the work. */
  async use(subject: Subject | undefined, run: (served: SubjectServer) => Promise<void>): Promise<void> {
    // no subject has an empty id, so this key is unique
    const key = subject === undefined ? '' : `id:${subject.id}`
    const entry = this.#entries.get(key) ?? this.#open(key, subject)
    // keep the map in the order of last use
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.uses += 1
    clearTimeout(entry.timer)
    try {
      await run(await entry.served)
    } finally {
      entry.uses -= 1
      if (entry.uses === 0 && this.#entries.get(key) === entry) this.#rest(key, entry)
    }
  }

  /** Closes an unused workspace after `idleTimeout`. Background commands keep a workspace open. */
  #rest(key: string, entry: Entry): void {
    const end = async (): Promise<void> => {
      const { opened } = await entry.served
      if (entry.uses > 0) return
      if (opened.workspace.commands().some(({ running }) => running)) this.#rest(key, entry)
      else this.#close(key, entry)
    }
    entry.timer = setTimeout(() => void end().catch(this.#hooks.report), this.#options.idleTimeout ?? 300_000).unref()
    const idle = [...this.#entries].filter(([, one]) => one.uses === 0)
    const [oldest] = idle
    if (idle.length > maxIdle && oldest !== undefined) this.#close(...oldest)
  }

  async close(): Promise<void> {
    for (const [key, entry] of this.#entries) this.#close(key, entry)
    await Promise.all(this.#ending)
  }

  #open(key: string, subject: Subject | undefined): Entry {
    const { maxStreams, makeServer } = this.#hooks
    const open = async (): Promise<SubjectServer> => {
      const opened = await this.#options.open(subject)
      try {
        const source = createSource(opened, this.#options)
        const skills = await loadSkills(opened)
        // over HTTP, the older protocol cannot report changes
        const handler = createMcpHandler(({ era }) => makeServer(source, skills, { streams: era === 'modern' }), {
          maxSubscriptions: maxStreams,
        })
        source.watch.on((path) => handler.notify.resourceUpdated(uriOf(path)))
        return { opened, source, handler }
      } catch (error) {
        await opened.close()
        throw error
      }
    }
    const served = open()
    // the next request retries a workspace that failed to open
    served.catch(() => this.#entries.delete(key)).catch(() => undefined)
    const end = async (): Promise<void> => {
      const { opened, source, handler } = await served
      await handler.close()
      await source.close()
      await opened.close()
    }
    const entry: Entry = { served, end, uses: 0 }
    this.#entries.set(key, entry)
    return entry
  }

  #close(key: string, entry: Entry): void {
    clearTimeout(entry.timer)
    this.#entries.delete(key)
    const ending = entry.end().catch(this.#hooks.report)
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
  }
}
