import {
  type CommandResult,
  createWorkspace,
  isWorkspaceError,
  paths,
  type Rule,
  type Workspace,
  type WorkspaceError,
} from '@ws/core'
import { LinkSignal, type StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'
import { setTimeout as delay } from 'node:timers/promises'
import { check, ConformanceError, equal, fail } from '../assert.ts'
import type { SuiteRoot, WorkspaceFixture } from '../options/workspace.ts'

export interface SiteOptions {
  /** Initial files, by path below the root. `file.txt` always exists. */
  readonly files?: Readonly<Record<string, string>> | undefined
  /** Makes the rules. `at` converts a path below the root to a workspace path. */
  readonly rules?: ((at: (path: string) => string) => readonly Rule[]) | undefined
  /** Adds a read-only mount at `.solven/skills/system` with the file `search.md`. Default false. */
  readonly skills?: boolean | undefined
  readonly require?: Requirement | undefined
  readonly layer?: ((store: StorageAdapter) => StorageAdapter) | undefined
  readonly executor?: ((executor: Executor) => Executor) | undefined
}

interface SiteSetting {
  readonly fixture: WorkspaceFixture
  readonly root: SuiteRoot
  readonly shell: string
  readonly refusesCommands?: boolean | undefined
}

/** A command that writes `begun`, writes to `beat` for five seconds, and then writes `after`. */
export const beating = `echo x > begun; ${'echo x >> beat; sleep 0.05; '.repeat(100)}echo x > after`

const marker = 'came to its end'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

export class Site {
  readonly workspace: Workspace
  readonly root: string
  /** The store below the root. Its calls bypass the policy, and its paths are mount paths. */
  readonly store: StorageAdapter
  readonly #shell: string
  readonly #refusesCommands: boolean
  readonly #stores: readonly StorageAdapter[]

  private constructor(
    workspace: Workspace,
    root: string,
    { shell, refusesCommands = false }: SiteSetting,
    stores: readonly StorageAdapter[],
  ) {
    this.workspace = workspace
    this.root = root
    this.#shell = shell
    this.#refusesCommands = refusesCommands
    this.#stores = stores
    this.store = stores[0] ?? fail('a site has a store')
  }

  static async open(setting: SiteSetting, options: SiteOptions = {}): Promise<Site> {
    const { fixture } = setting
    const stores: StorageAdapter[] = []
    const make = async (name: string, files: Readonly<Record<string, string>>): Promise<StorageAdapter> => {
      const store = await fixture.createStore(name)
      stores.push(store)
      for (const [path, content] of Object.entries(files)) {
        await store.write(paths.parseMount(`/${path}`), encode(content), { parents: true })
      }
      return store
    }
    try {
      const store = await make('t1', { 'file.txt': 'a file\n', ...options.files })
      await make('t12', { 'secret.txt': neighbourSecret })
      const root =
        setting.root === 'own' ? (store.hostPath?.(paths.parseMount('/')) ?? fail('a store on the disk')) : setting.root
      const at = placer(root)
      const mounts = [{ at: root, adapter: options.layer?.(store) ?? store }]
      if (options.skills === true) {
        const skills = await make('skills', { 'search.md': 'how to search\n' })
        mounts.push({ at: at(skillsPath), adapter: skills, access: 'read-only' } as (typeof mounts)[number])
      }
      const workspace = await (fixture.open ?? createWorkspace)({
        mounts,
        rules: options.rules?.(at) ?? [],
        executors: [options.executor?.(fixture.executor) ?? fixture.executor],
        ...(options.require === undefined ? {} : { require: options.require }),
      })
      return new Site(workspace, root, setting, stores)
    } catch (error) {
      for (const store of stores) await store.close()
      throw error
    }
  }

  at(path: string): string {
    return placer(this.root)(path)
  }

  /** Runs any command to its end. By default, without a login shell. */
  async attempt(
    command: string | readonly string[],
    options: Parameters<Workspace['exec']>[1] = {},
  ): Promise<CommandResult> {
    try {
      return await this.workspace.exec(command, { shell: this.#shell, login: false, timeout: 60_000, ...options })
    } catch (error) {
      const refused = this.#refusesCommands && isWorkspaceError(error, 'EUNENFORCEABLE') && error.rule === undefined
      if (refused) return refusalOf(error, this.workspace)
      throw error
    }
  }

  refuses({ exitCode }: CommandResult): boolean {
    return this.#refusesCommands && exitCode === refusedCode
  }

  async run(command: string | readonly string[], options: Parameters<Workspace['exec']>[1] = {}): Promise<string> {
    const result = await this.attempt(command, options)
    if (result.exitCode === 0) return result.stdout
    const { exitCode, signal, stderr } = result
    throw new ConformanceError(`exit ${exitCode} ${signal ?? ''} of: ${String(command)}\n${stderr}`, exitCode, 0)
  }

  /** Returns an attack's output. Runs a refused attack again, one statement at a time. The attack must reach its end. */
  async attack(command: string): Promise<string> {
    const { stdout, stderr, exitCode } = await this.attempt(`${command}\necho '${marker}'`)
    if (stdout.endsWith(`${marker}\n`)) return stdout.slice(0, -marker.length - 1) + stderr
    check(exitCode === refusedCode, `the attack did not come to its end: ${stdout}${stderr}`)
    const statements = /\b(?:for|while|if)\b|\{/.test(command) ? [] : command.split(/;\s*|\n/)
    let [directory, printed] = ['', stdout + stderr]
    for (const statement of statements) {
      const result = await this.attempt(directory + statement)
      printed += result.stdout + result.stderr
      if (/^cd \S+$/.test(statement)) directory += `${statement}; `
    }
    return printed
  }

  hostPaths(): string[] {
    return this.#stores.flatMap((store) => store.hostPath?.(paths.parseMount('/')) ?? [])
  }

  async stored(path: string): Promise<string | undefined> {
    try {
      const { bytes } = await this.store.read(paths.parseMount(`/${path}`))
      return new TextDecoder().decode(bytes)
    } catch (error) {
      if (error instanceof LinkSignal || isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR'))
        return undefined
      throw error
    }
  }

  async tree(): Promise<string[]> {
    const found: string[] = []
    for await (const { type, path } of this.store.list(paths.parseMount('/'), { recursive: true }))
      found.push(`${type} ${path}`)
    return found.sort()
  }

  async link(path: string, target: string): Promise<void> {
    await this.store.createSymlink?.(paths.parseMount(`/${path}`), target)
  }

  /** Returns the entries that the file API lists below a directory, as sorted paths from the root. */
  async listed(path?: string): Promise<string[]> {
    const start = this.root === '/' ? 1 : this.root.length + 1
    const found: string[] = []
    for await (const entry of this.workspace.list(path, { recursive: true })) found.push(entry.path.slice(start))
    return found.sort()
  }

  /** Waits until a file is in the store. Tests use a file that the command creates at its start. */
  async appears(path: string): Promise<void> {
    for (let waited = 0; waited < 15_000; waited += 10) {
      if ((await this.stored(path)) !== undefined) return
      await delay(10)
    }
    fail(`${path} did not appear within 15 s: the command did not run`)
  }

  async settled(path: string): Promise<void> {
    const before = (await this.stored(path))?.length
    await delay(250)
    equal((await this.stored(path))?.length, before, `the size of ${path}, which no process may change any more,`)
  }

  /** Checks that a `beating` command was stopped before its end. */
  async cutOff(): Promise<void> {
    await this.settled('beat')
    equal(await this.stored('after'), undefined, 'what comes at the end of the command')
  }

  async close(): Promise<void> {
    try {
      await this.workspace.close()
    } finally {
      for (const store of this.#stores) await store.close()
    }
  }
}

/** Returns a path that climbs above `/` from a root. */
export function above(root: string): string {
  return Array(root.split('/').length).fill('..').join('/')
}

export const neighbourSecret = 'of-another-thread'
export const skillsPath = '.solven/skills/system'

const refusedCode = 126

/** Converts a refusal to the result of a failed command. */
function refusalOf({ message }: WorkspaceError, { executor }: Workspace): CommandResult {
  const ended = {
    exitCode: refusedCode,
    exitStatus: refusedCode,
    signal: null,
    timedOut: false,
    truncated: false,
    duration: 0,
  }
  const written = { stdout: '', stderr: message, output: message, stdoutBytes: 0, stderrBytes: encode(message).length }
  return { ...ended, ...written, executor: executor?.name ?? '' }
}

function placer(root: string): (path: string) => string {
  return (path) => (root === '/' ? `/${path}` : path === '' ? root : `${root}/${path}`)
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'done'
  } catch (error) {
    return isWorkspaceError(error) ? error.code : `no WorkspaceError: ${String(error)}`
  }
}
