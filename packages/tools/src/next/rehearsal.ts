import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { ExplainRequest, Stat, TransferResult, Workspace, WriteResult } from '@ws/core'

import { Session } from '../session/session.ts'

/**
 * A session in which a call changes nothing: it reads as the real one, and fails where a change would fail. Of listings and
 * searches it sees the first entry only, and no command runs.
 */
export class Rehearsal extends Session {
  override readonly documents: Session['documents']
  readonly #of: Session

  constructor(of: Session) {
    super(rehearsalOf(of.workspace), { ...of.options, downloads: false })
    this.#of = of
    this.documents = of.documents
    for (const [id, told] of of.background) this.background.set(id, told)
  }

  /** A call would have changed something, or have run a command. */
  get isChanged(): boolean {
    return this.journal.length > 0
  }

  override seen(path: string): string | undefined {
    return this.#of.seen(path)
  }
}

function rehearsalOf(workspace: Workspace): Workspace {
  const { root, executor, mounts } = workspace
  const stat = async (path: string): Promise<Stat | undefined> => {
    try {
      return await workspace.stat(path, { followLinks: true })
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
    await workspace.stat(from)
    if ((await stat(to)) !== undefined) throw impossible('move', to, 'exists already')
    await checkParents(to)
    if (`${to}/`.startsWith(`${from}/`)) throw impossible('move', to, 'lies in itself')
    return { version: 'rehearsed' } as TransferResult
  }
  /** The nearest entry above must be a directory. */
  const checkParents = async (path: string): Promise<void> => {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const found = await stat(path.slice(0, slash))
      if (found === undefined) continue
      if (found.type !== 'directory') throw impossible('write', path, 'lies below a file')
      return
    }
  }
  const runs = async (cwd = root as string): Promise<void> => {
    if (executor === undefined) throw impossible('exec', cwd, 'needs an executor')
    const { effect, unenforceable = [] } = await workspace.explain({ operation: 'exec', path: cwd })
    if (effect !== 'allow' || unenforceable.length > 0) throw impossible('exec', cwd, 'is refused')
    if ((await stat(cwd))?.type !== 'directory') throw impossible('exec', cwd, 'is not a directory')
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
      await checkParents(path)
      if (found === undefined && (await isThere(path))) throw impossible('write', path, 'is a link that leads nowhere')
      return { version: 'rehearsed', size: 0 } as WriteResult
    },
    async delete(path, { recursive = false } = {}) {
      await admit('delete', path)
      const { type } = await workspace.stat(path)
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
      const { bytes, stat: found } = await workspace.read(path)
      if (typeof edits === 'function') await edits(bytes, {} as never)
      return { version: found.version } as never
    },
    list: (path, options) => first(workspace.list(path, options)),
    glob: (patterns, options) => first(workspace.glob(patterns, options)),
    search: (pattern, options) => first(workspace.search(pattern, options)),
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
      const command = workspace.command(id)
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
  const reading = [
    'stat',
    'read',
    'readText',
    'readLines',
    'readSymlink',
    'realPath',
    'exists',
    'explain',
    'commands',
  ] as const
  const passed = Object.fromEntries(
    reading.map((name) => [
      name,
      (...given: never[]): unknown => (workspace[name] as (...all: never[]) => unknown).apply(workspace, given),
    ]),
  )
  return { root, mounts, executor, ...passed, ...own } as unknown as Workspace
}

async function* first<Item>(items: AsyncIterableIterator<Item>): AsyncIterableIterator<Item> {
  for await (const item of items) {
    yield item
    return
  }
}

function impossible(operation: string, path: string, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason })
}
