import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { ExplainRequest, Stat, TransferResult, Workspace, WriteResult } from '@ws/core'
import { rehearsing } from '@ws/core/executor'

import { Session } from '../session/session.ts'
import type { Call } from '../session/session.ts'

/** Limit of paths that the calls of a rehearsal may read in total. */
const mostPaths = 2
const harmless: ReadonlySet<string> = new Set(['created', 'copied', 'executed'])

/** Tries out a call: reads are real, changes only raise their errors, listings and searches return nothing. The audit marks its events. */
export class Rehearsal extends Session {
  override readonly documents: Session['documents']
  readonly #of: Session
  readonly #paths: Set<string>

  constructor(of: Session) {
    const paths = new Set<string>()
    super(rehearsalOf(of.workspace, paths), { ...of.options, downloads: false, commands: false })
    this.#of = of
    this.#paths = paths
    this.documents = of.documents
    for (const [id, told] of of.background) this.background.set(id, told)
  }

  /** @returns whether the call would have changed or removed an existing entry */
  async play(
    tool: string,
    signal: AbortSignal | undefined,
    handle: (call: Call) => Promise<unknown>,
  ): Promise<boolean> {
    const before = this.journal.length
    const call = this.begin(tool, signal)
    try {
      await handle(call)
    } finally {
      call.pass()
    }
    return this.journal.slice(before).some(({ change }) => !harmless.has(change))
  }

  get isSpent(): boolean {
    return this.#paths.size >= mostPaths
  }

  override seen(path: string): string | undefined {
    return this.#of.seen(path)
  }
}

function rehearsalOf(real: Workspace, paths: Set<string>): Workspace {
  const { root, executor, mounts } = real
  const workspace = rehearsing(real)
  const spend = (operation: string, path: string): void => {
    if (paths.size >= mostPaths && !paths.has(path)) throw impossible(operation, path, 'is one path too many')
    paths.add(path)
  }
  const seen = new Map<string, Promise<Stat>>()
  const look = async (
    path: string,
    { followLinks = false }: { readonly followLinks?: boolean | undefined } = {},
  ): Promise<Stat> => {
    spend('stat', path)
    const key = `${followLinks ? 'behind' : 'at'} ${path}`
    const found = seen.get(key) ?? workspace.stat(path, { followLinks })
    seen.set(key, found)
    return found
  }
  const stat = async (path: string): Promise<Stat | undefined> => {
    try {
      return await look(path, { followLinks: true })
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT')) return undefined
      throw error
    }
  }
  const admit = async (operation: ExplainRequest['operation'], path: string): Promise<void> => {
    const verdict = await workspace.explain({ operation, path })
    if (verdict.effect !== 'allow') throw impossible(operation, path, verdict.reason ?? 'is refused')
  }
  const transfer = async (from: string, to: string): Promise<TransferResult> => {
    await admit('write', to)
    await look(from)
    if ((await stat(to)) !== undefined) throw impossible('move', to, 'exists already')
    if (`${to}/`.startsWith(`${from}/`)) throw impossible('move', to, 'lies in itself')
    return { version: 'rehearsed' } as TransferResult
  }
  const runs = async (cwd = root as string): Promise<void> => {
    if (executor === undefined) throw impossible('exec', cwd, 'needs an executor')
    // a real `exec` would search for all names that rules cover
    const { effect, unenforceable = [] } = await workspace.explain({ operation: 'list', path: cwd })
    if (effect !== 'allow' || unenforceable.length > 0) throw impossible('exec', cwd, 'is refused')
    if (cwd !== root && (await stat(cwd))?.type !== 'directory') throw impossible('exec', cwd, 'is not a directory')
  }
  const own: Pick<
    Workspace,
    'write' | 'delete' | 'copy' | 'move' | 'edit' | 'list' | 'glob' | 'search' | 'exec' | 'start' | 'command'
  > = {
    async write(path, _data, { ifVersion } = {}): Promise<WriteResult> {
      await admit('write', path)
      const found = await stat(path)
      if (found !== undefined && found.type !== 'file') throw impossible('write', path, 'is not a file')
      if (ifVersion !== undefined && ifVersion !== (found?.version ?? 'absent')) {
        throw impossible('write', path, 'has another version')
      }
      if (found === undefined && (await isThere(path))) throw impossible('write', path, 'is a link that leads nowhere')
      return { version: 'rehearsed', size: 0 } as WriteResult
    },
    async delete(path, { recursive = false } = {}) {
      await admit('delete', path)
      const { type } = await look(path)
      if (recursive || type !== 'directory') return
      for await (const entry of workspace.list(path)) throw impossible('delete', entry.path, 'is in the directory')
    },
    copy: transfer,
    async move(from, to) {
      await admit('move', from)
      return transfer(from, to)
    },
    async edit(path, edits) {
      await admit('write', path)
      spend('edit', path)
      const { bytes, stat: found } = await workspace.read(path)
      if (typeof edits === 'function') await edits(bytes, {} as never)
      return { version: found.version } as never
    },
    list: (path = '.', { signal } = {}) => own.glob('*', { in: path, signal }),
    async *glob(patterns, { in: path = '.', ...options } = {}) {
      spend('glob', path)
      yield* workspace.glob(patterns, { ...options, in: path, maxMatches: 0 })
    },
    async *search(pattern, { in: path = '.', ...options } = {}) {
      spend('search', path)
      yield* workspace.search(pattern, { ...options, in: path, maxHits: 0 })
    },
    async exec(_command, { cwd } = {}) {
      await runs(cwd)
      const ended = { exitCode: 0, exitStatus: 0, signal: null, timedOut: false, truncated: false, duration: 0 }
      return { ...ended, stdout: '', stderr: '', output: '' } as never
    },
    async start(_command, { cwd } = {}) {
      await runs(cwd)
      return { id: 'rehearsed' } as never
    },
    command(id) {
      const command = real.command(id)
      return {
        running: command.running,
        result: command.result,
        output: command.output.bind(command),
        kill: () => false,
      } as never
    },
  }
  const isThere = (path: string): Promise<boolean> =>
    workspace.stat(path).then(
      () => true,
      () => false,
    )
  const reading = ['read', 'readText', 'readLines', 'readSymlink', 'realPath', 'exists'] as const
  const passed = Object.fromEntries(
    reading.map((name) => [
      name,
      async (path: string, ...given: never[]): Promise<unknown> => {
        spend(name, path)
        return (workspace[name] as (path: string, ...all: never[]) => unknown).call(workspace, path, ...given)
      },
    ]),
  )
  const free: Partial<Workspace> = {
    stat: (path, options) => look(path, options),
    explain: (request) => workspace.explain(request),
    commands: () => real.commands(),
  }
  return { root, mounts, executor, ...passed, ...free, ...own } as unknown as Workspace
}

function impossible(operation: string, path: string, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason })
}
