import { spawn } from 'node:child_process'
import { chmod, lchown, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import type { Owner } from '@ws/core/adapter'

import type { ScratchStore } from '../../storage/scratch.ts'
import { writeFixtures } from './fixtures.ts'
import { storedBehind, storedInDirectory, type StoredFiles } from './stored.ts'
import { upload } from './upload.ts'

export interface WorldOptions {
  /** Whom the scratch directory belongs to, and commands run as. */
  readonly owner: Owner
  /** Puts a project into an empty directory; `outside` is a file that links may point to. Default: nothing. */
  readonly populate?: ((project: string, outside: string) => Promise<void>) | undefined
  /** The workspace, the skills and the other workspaces are copied there and used there. Default: they are used as they are. */
  readonly store?: ScratchStore | undefined
}

/** A scratch directory with a workspace in it, and with what must not be reached from there. Host paths throughout. */
export interface World extends AsyncDisposable {
  readonly directory: string
  readonly owner: Owner
  /** The workspace: `threads/t1`. */
  readonly project: string
  readonly skills: string
  /** The files that workspaces are made of: those of the two directories, or the store's copies of them. */
  readonly stored: { readonly project: StoredFiles; readonly skills: StoredFiles }
  /** Other workspaces beside it, each with a `secret.txt`. */
  readonly siblings: readonly string[]
  /** A file outside. */
  readonly outside: string
  /** The text in every file outside, in this process's environment, and on another process's command line. */
  readonly secret: string
  /** The text in every file that rules protect. */
  readonly protectedText: string
  /** A listener on the loopback address and one on a path outside. */
  readonly port: number
  readonly socket: string
  /** Connections that those have got. */
  connections(): number
}

export const secretVariable = 'WS_CHECK_SECRET'

export async function createWorld({ owner, populate, store }: WorldOptions): Promise<World> {
  await using cleanup = new AsyncDisposableStack()
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'ws-check-'))
  cleanup.defer(() => removeTree(directory))
  await chmod(directory, 0o755) // the owner has to come through

  const secret = `outside-${crypto.randomUUID()}`
  const protectedText = `protected-${crypto.randomUUID()}`
  const threads = join(directory, 'threads')
  const world = {
    directory,
    owner,
    secret,
    protectedText,
    project: join(threads, 't1'),
    skills: join(directory, 'skills', 'system'),
    siblings: [join(threads, 't12'), join(threads, 't2'), join(threads, 't1-old')],
    outside: join(directory, 'outside', 'secret.txt'),
    socket: join(directory, 'outside', 'socket'),
  }
  for (const sibling of world.siblings) await put(join(sibling, 'secret.txt'), secret)
  await put(world.outside, secret)
  await put(join(world.skills, 'SKILL.md'), '# A skill\n')
  await put(join(world.skills, 'scripts', 'run.py'), 'print("skill")\n')
  await mkdir(world.project, { recursive: true })
  await populate?.(world.project, world.outside)
  await writeFixtures(world)
  await giveTo(owner, directory)
  const stored = store === undefined ? storedHere(world) : await storeIn(store, world, cleanup)

  startSentinel(cleanup, secret)
  const listeners = await listen(cleanup, world.socket)
  const previous = process.env[secretVariable]
  process.env[secretVariable] = secret
  cleanup.defer(() => {
    if (previous === undefined) delete process.env[secretVariable]
    else process.env[secretVariable] = previous
  })
  const kept = cleanup.move()
  return { ...world, ...listeners, stored, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

type Directories = Pick<World, 'directory' | 'owner' | 'project' | 'skills' | 'siblings'>

function storedHere({ project, skills, owner }: Directories): World['stored'] {
  return { project: storedInDirectory(project, owner), skills: storedInDirectory(skills, owner) }
}

/** The other workspaces go along, as parts of the same store. */
async function storeIn(
  store: ScratchStore,
  { directory, project, skills, siblings }: Directories,
  cleanup: AsyncDisposableStack,
): Promise<World['stored']> {
  const copy = async (host: string): Promise<StoredFiles> => {
    const path = host.slice(directory.length)
    const files = cleanup.use(await storedBehind(() => store.open(path)))
    const adapter = await files.open()
    try {
      await upload(host, adapter)
    } finally {
      await adapter.close()
    }
    return files
  }
  for (const sibling of siblings) await copy(sibling)
  return { project: await copy(project), skills: await copy(skills) }
}

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** A process that commands must neither see nor reach; it ends by itself if this process is killed. */
function startSentinel(cleanup: AsyncDisposableStack, secret: string): void {
  const sentinel = spawn(process.execPath, ['-e', 'process.stdin.resume().on("end", () => process.exit())', secret], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  sentinel.on('error', () => undefined)
  cleanup.defer(async () => {
    // an interrupt at the terminal has reached it too
    if (sentinel.exitCode !== null || sentinel.signalCode !== null || sentinel.pid === undefined) return
    const ended = new Promise((resolve) => sentinel.once('exit', resolve))
    sentinel.stdin.end()
    await ended
  })
}

async function listen(cleanup: AsyncDisposableStack, socket: string) {
  let count = 0
  const start = async (address: object) => {
    const server = createServer((connection) => {
      count += 1
      connection.destroy()
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(address, resolve))
    cleanup.defer(async () => {
      await new Promise((resolve) => server.close(resolve))
    })
    return server.address()
  }
  await start({ path: socket, readableAll: true, writableAll: true })
  const address = await start({ host: '127.0.0.1', port: 0 })
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return { port, connections: () => count }
}

async function giveTo(owner: Owner, directory: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  await lchown(directory, owner.uid, owner.gid)
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), owner.uid, owner.gid)
}

/** Commands may leave directories that nobody may enter; those are opened first. */
async function removeTree(directory: string): Promise<void> {
  const unlock = async (path: string): Promise<void> => {
    await chmod(path, 0o700)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await unlock(join(path, entry.name))
    }
  }
  if (process.getuid?.() !== 0) await unlock(directory).catch(() => undefined)
  await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 })
}
