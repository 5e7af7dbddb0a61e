import { chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { type FileDoor, paths, type VirtualPath } from '@ws/core'
import type {
  AttachedExecutor,
  Bind,
  BindPlan,
  CommandRequest,
  ExecutorResult,
  HostPath,
  StartedCommand,
} from '@ws/core/executor'
import { component, createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'

import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '../../src/index.ts'

export const needed = {
  below: [component('bubblewrap')],
  warm: [component('bubblewrap'), component('perl')],
  direct: [component('bubblewrap'), component('perl')],
  'warm-direct': [component('bubblewrap'), component('perl')],
  translated: [component('bubblewrap'), component('proot')],
}
/** A mount at /workspace, and one at `/` that is the root itself, each in a sandbox of its own and in one that was ready; and one
 * at `/` that is translated. */
export const modes = ['below', 'warm', 'direct', 'warm-direct', 'translated'] as const
export type Mode = (typeof modes)[number]

export function isBelow(mode: Mode): boolean {
  return mode === 'below' || mode === 'warm'
}

export function isWarm(mode: Mode): boolean {
  return mode === 'warm' || mode === 'warm-direct'
}

/** One form of each place, for what a command finds the same in a sandbox that was ready. */
export const places: readonly Mode[] = ['warm', 'warm-direct', 'translated']

/** `npm test` tries the form that most commands take at `/`. */
export const tagsIn = (mode: Mode): 'deep'[] => (mode === 'warm-direct' ? [] : ['deep'])

/** Masks and the like, which each form makes in its own way: `npm test` tries warm and translated, `test:all` cold below `/`. */
export const tagsInEachForm = (mode: Mode): ('all' | 'deep')[] =>
  mode === 'below' ? ['all'] : mode === 'warm' || mode === 'direct' ? ['deep'] : []

/** Warm commands are alike at both places: `npm test` tries them at `/`. */
export const tagsOfWarm = (mode: Mode): 'all'[] => (mode === 'warm' ? ['all'] : [])

/** The options that keep an executor to one form. */
export function formOf(mode: Mode): Required<Pick<BubblewrapExecutorOptions, 'root' | 'warm'>> {
  return { root: isBelow(mode) ? 'auto' : mode === 'translated' ? mode : 'direct', warm: isWarm(mode) }
}

export interface Part {
  readonly kind: Bind['kind']
  /** From the workspace's root; for `scratch` ignored. */
  readonly at: string
  readonly type?: 'directory' | 'file'
  readonly access?: Bind['access']
  /** Host path; default: the entry in the workspace. */
  readonly source?: string
}

export type RunOptions = Partial<Omit<CommandRequest, 'command' | 'cwd'>> & {
  readonly cwd?: string
  readonly parts?: readonly Part[]
  readonly aliases?: readonly string[]
}

/** A workspace in a scratch directory of an ordinary user, and an executor attached to it. */
export class Workbench implements AsyncDisposable {
  readonly mode: Mode
  readonly root: VirtualPath
  readonly scratch: ScratchDirectory
  readonly executor: AttachedExecutor
  parts: readonly Part[] = []
  /** Commands share a `/tmp` on the disk; otherwise each has its own in memory. */
  hasScratch = true

  private constructor(mode: Mode, scratch: ScratchDirectory, executor: AttachedExecutor) {
    this.mode = mode
    this.root = rootOf(mode)
    this.scratch = scratch
    this.executor = executor
  }

  static async create(mode: Mode, options: BubblewrapExecutorOptions = {}): Promise<Workbench> {
    const scratch = await createScratchDirectory({ prefix: 'ws-bwrap-' })
    const files = undefined as unknown as FileDoor // processes do not use it
    const view = { root: rootOf(mode), owner: scratch.owner, files }
    const bench = new Workbench(
      mode,
      scratch,
      await createBubblewrapExecutor({ ...formOf(mode), ...options }).attach(view),
    )
    await bench.directory(bench.host())
    await bench.directory(bench.outside())
    await bench.directory(join(scratch.path, 'tmp'))
    // The first command of an executor always starts cold.
    if (isWarm(mode)) await bench.run('true')
    return bench
  }

  /** A host path in the workspace. */
  host(path = ''): string {
    return join(this.scratch.path, 'workspace', path)
  }

  /** A host path beside the workspace. */
  outside(path = ''): string {
    return join(this.scratch.path, 'outside', path)
  }

  /** The virtual path of something in the workspace. */
  at(path = '/'): VirtualPath {
    return paths.parseVirtual(this.root === '/' ? path : this.root + path)
  }

  async directory(path: string): Promise<void> {
    await mkdir(path, { recursive: true })
    await this.#give(path)
  }

  async file(path: string, content = '', mode = 0o644): Promise<void> {
    await this.directory(dirname(path))
    await writeFile(path, content, { mode })
    await this.#give(path)
  }

  async #give(path: string): Promise<void> {
    if (process.getuid?.() === 0) await chown(path, this.scratch.owner.uid, this.scratch.owner.gid)
  }

  plan({ parts = this.parts, aliases = [] }: RunOptions = {}): BindPlan {
    const mount: Bind = {
      kind: 'mount',
      at: this.root,
      type: 'directory',
      source: this.host() as HostPath,
      access: 'read-write',
      rules: [],
    }
    const scratch = { ...mount, kind: 'scratch', at: paths.parseVirtual('/tmp') } as const
    return {
      root: this.root,
      binds: [
        mount,
        ...parts.map((part) => this.#bind(part)),
        ...(this.hasScratch ? [{ ...scratch, source: join(this.scratch.path, 'tmp') as HostPath }] : []),
      ],
      aliases: aliases.map((alias) => paths.parseVirtual(alias)),
      restrictions: [],
      renameBorders: [],
    }
  }

  #bind({ kind, at, type = 'directory', access, source }: Part): Bind {
    const shown = kind === 'mask' || kind === 'closed' ? undefined : ((source ?? this.host(at)) as HostPath)
    const level = access ?? (shown === undefined ? 'none' : 'read-write')
    return { kind, at: this.at(at), type, source: shown, access: level, rules: ['test'] }
  }

  spawn(command: string, options: RunOptions = {}): Promise<StartedCommand> {
    const { parts: _parts, aliases: _aliases, cwd, ...request } = options
    return this.executor.spawn(
      {
        command,
        cwd: cwd === undefined ? this.root : paths.parseVirtual(cwd),
        env: {},
        // The shell that every system has, whatever $SHELL says.
        shell: '/bin/sh',
        login: false,
        killGrace: 300,
        maxOutputBytes: 1 << 20,
        ...request,
      },
      this.plan(options),
    )
  }

  async run(command: string, options: RunOptions = {}): Promise<ExecutorResult> {
    const running = await this.spawn(command, options)
    return running.wait()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.executor.close()
    await this.scratch.remove()
  }
}

function rootOf(mode: Mode): VirtualPath {
  return paths.parseVirtual(isBelow(mode) ? '/workspace' : '/')
}

/** Names below a directory, sorted, for showing that nothing was left. */
export async function namesBelow(directory: string): Promise<string[]> {
  return (await readdir(directory, { recursive: true })).sort()
}
