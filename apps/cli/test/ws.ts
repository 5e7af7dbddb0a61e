import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'

import { main } from '../src/main.ts'

/** Most of the time of a short command is compiling the sources. */
export const compileCache = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly bytes: Buffer
}

export interface WsOptions {
  /** The program's input; absent: none, and the end at once. */
  readonly input?: string | Uint8Array
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** The streams that say they are a terminal. Not for a process of its own. */
  readonly terminals?: readonly ('stdout' | 'stderr')[]
  /** That of another `ws`. Not for a process of its own. */
  readonly main?: (args: readonly string[]) => Promise<number>
}

const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/nonexistent',
  NO_COLOR: '1',
  TMPDIR: tmpdir(),
  NODE_COMPILE_CACHE: compileCache,
  ...env,
})

/** The real `ws` as its users start it, on the sources. */
export function startWs(args: readonly string[], { env, cwd }: WsOptions = {}): ChildProcess {
  return spawn(process.execPath, ['--conditions=@ws/source', entry, ...args], {
    cwd: cwd ?? '/',
    env: environment(env),
  })
}

/** The real `ws`, to its end: for what only a process of its own shows. */
export async function wsProcess(args: readonly string[], options: WsOptions = {}): Promise<Ended> {
  const child = startWs(args, options)
  // a command that does not read its input closes it
  child.stdin?.on('error', () => undefined).end(options.input ?? '')
  return await end(child)
}

let last: Promise<unknown> = Promise.resolve()

/** Runs `ws` by its function, one call after the other: starting a process takes longer than most commands. */
export async function ws(args: readonly string[], options: WsOptions = {}): Promise<Ended> {
  const running = startMain(args, options)
  running.stdin.end(options.input ?? '')
  return await running.ended
}

/** A `ws` that is called by its function, and that a test talks with. */
export interface RunningMain {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  readonly ended: Promise<Ended>
  /** Sends it a signal, as a terminal does. */
  kill(signal: StopSignal): void
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type StopSignal = (typeof stopSignals)[number]

/** Calls the function of `ws`, after the calls before it. It has the streams and the variables of this process until it ends. */
export function startMain(args: readonly string[], options: WsOptions = {}): RunningMain {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const before = stopSignals.map((name) => process.listeners(name))
  const ended = last.then(async () => await callMain(args, options, streams))
  last = ended.catch(() => undefined)
  return {
    ...streams,
    ended,
    kill(signal) {
      const own = process.listeners(signal).filter((one) => before.every((others) => !others.includes(one)))
      for (const one of own) one(signal)
    },
  }
}

async function callMain(
  args: readonly string[],
  { env, cwd = '/', terminals = [], main: run = main }: WsOptions,
  streams: Pick<RunningMain, 'stdin' | 'stdout' | 'stderr'>,
): Promise<Ended> {
  const [stdout, stderr] = [streams.stdout, streams.stderr].map(collect)
  for (const name of terminals) Object.assign(streams[name], { isTTY: true, columns: 500 })
  const before = { cwd: process.cwd(), env: { ...process.env } }
  const descriptors = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const,
  )
  const listeners = stopSignals.map((name) => process.listeners(name))
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true })
  setEnvironment(environment(env))
  process.chdir(cwd)
  try {
    const code = await run(args)
    const [bytes, errors] = [stdout?.() ?? Buffer.of(), stderr?.() ?? Buffer.of()]
    return { code, stdout: bytes.toString(), stderr: errors.toString(), bytes }
  } finally {
    process.chdir(before.cwd)
    setEnvironment(before.env)
    for (const [name, descriptor] of descriptors) Object.defineProperty(process, name, descriptor ?? {})
    for (const [index, name] of stopSignals.entries()) {
      for (const one of process.listeners(name)) if (!listeners[index]?.includes(one)) process.off(name, one)
    }
  }
}

/** The environment is changed and not exchanged: native code sees it too. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  Object.assign(process.env, env)
}

/** Answers with what a stream has given so far. */
function collect(stream: PassThrough): () => Buffer {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return () => Buffer.concat(chunks)
}

export async function end(child: ChildProcess): Promise<Ended> {
  const chunks: Buffer[] = []
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  const bytes = Buffer.concat(chunks)
  return { code, stdout: bytes.toString(), stderr, bytes }
}

/** The command line of `ws` for a shell, for redirections that spawn cannot make. */
export const wsForShell = `NODE_COMPILE_CACHE='${compileCache}' '${process.execPath}' --conditions=@ws/source '${entry}'`

/** A scratch directory of the ordinary owner with these files in it. */
export async function createProject(files: Readonly<Record<string, string | Uint8Array>>): Promise<ScratchDirectory> {
  const scratch = await createScratchDirectory()
  for (const [path, content] of Object.entries(files)) {
    const file = join(scratch.path, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  await giveToOwner(scratch)
  return scratch
}

export async function giveToOwner({ path, owner }: ScratchDirectory): Promise<void> {
  if (process.getuid?.() !== 0) return
  await once(spawn('chown', ['-hR', `${owner.uid}:${owner.gid}`, path]), 'exit')
}

/** A project with a state directory of its own, so that what one test trusts is not known to others. */
export async function site(files: Readonly<Record<string, string>>) {
  const [project, state] = [await createProject(files), await createScratchDirectory()]
  const env = { XDG_STATE_HOME: state.path, HOME: state.path }
  return {
    path: project.path,
    env,
    ws: (args: readonly string[], below = ''): Promise<Ended> => ws(args, { env, cwd: join(project.path, below) }),
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]()
      await state[Symbol.asyncDispose]()
    },
  }
}
