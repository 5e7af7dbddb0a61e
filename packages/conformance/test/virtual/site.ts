import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { type CommandResult, createWorkspace, type Rule, type Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'

/** One for all tests of a file, so that they share threads: held by a workspace of its own. */
const executor = createVirtualExecutor()
const holder = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
  executors: [executor],
})
afterAll(() => holder.close())

export interface VirtualSite extends AsyncDisposable {
  readonly workspace: Workspace
  at(path: string): string
  /** The standard output of a command that is expected to work. */
  run(command: string): Promise<string>
  attempt(command: string): Promise<CommandResult>
}

export interface VirtualSiteOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly rules?: (at: (path: string) => string) => readonly Rule[]
  /** A read-only mount at `.solven/skills/system`. Default false. */
  readonly skills?: boolean
}

export interface Place {
  readonly name: string
  readonly root: '/' | '/workspace'
  open(options?: VirtualSiteOptions): Promise<VirtualSite>
}

/** The virtual executor over each adapter at both roots. */
export const places: readonly Place[] = (['memory', 'local'] as const).flatMap((store) =>
  (['/', '/workspace'] as const).map((root) => ({
    name: `virtual on ${store} at ${root}`,
    root,
    open: (options: VirtualSiteOptions = {}) => open(store, root, options),
  })),
)

const skill = { 'search.md': 'how to search\n' }

async function open(store: 'memory' | 'local', root: Place['root'], options: VirtualSiteOptions): Promise<VirtualSite> {
  const { files = {}, rules = () => [], skills = false } = options
  const at = (path: string): string => (root === '/' ? `/${path}` : path === '' ? root : `${root}/${path}`)
  await using cleanup = new AsyncDisposableStack()
  const create = await stores[store](cleanup)
  const workspace = cleanup.use(
    await createWorkspace({
      mounts: [
        { at: root, adapter: await create('project', { 'file.txt': 'a file\n', ...files }) },
        ...(skills
          ? [{ at: at('.solven/skills/system'), adapter: await create('skills', skill), access: 'read-only' as const }]
          : []),
      ],
      rules: rules(at),
      executors: [executor],
      require: 'untrusted',
    }),
  )
  const attempt = (command: string) => workspace.exec(command, { login: false, shell: 'bash', timeout: 60_000 })
  const kept = cleanup.move()
  return {
    workspace,
    at,
    attempt,
    async run(command) {
      const result = await attempt(command)
      if (result.exitCode === 0) return result.stdout
      throw new Error(`exit ${result.exitCode}: ${command}\n${result.stdout}${result.stderr}`)
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

type Create = (
  name: string,
  files: Readonly<Record<string, string>>,
) => Promise<() => ReturnType<typeof createLocalAdapter>>

const stores: Readonly<Record<'memory' | 'local', (cleanup: AsyncDisposableStack) => Promise<Create>>> = {
  async memory() {
    return async (_, files) => {
      const rooted = Object.entries(files).map(([path, content]) => [`/${path}`, content])
      return async () => createMemoryAdapter({ files: Object.fromEntries(rooted) })
    }
  },
  async local(cleanup) {
    const owner = ordinaryOwner()
    const scratch = await createScratchDirectory({ owner })
    cleanup.defer(() => scratch.remove())
    return async (name, files) => {
      const directory = join(scratch.path, name)
      for (const [path, content] of Object.entries(files)) await put(join(directory, path), content, scratch.path)
      return () => createLocalAdapter({ root: directory, owner })
    }
  },
}

/** Writes a file below `base` and gives it, and the directories made for it, to the ordinary owner. */
async function put(path: string, content: string, base: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  if (process.getuid?.() !== 0) return
  const { uid, gid } = ordinaryOwner()
  for (let current = path; current !== base && current !== '/'; current = dirname(current))
    await chown(current, uid, gid)
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
