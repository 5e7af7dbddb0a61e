import { chown, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { type FileDoor, paths, type VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { AttachedExecutor, Bind, BindPlan, CommandRequest, ExecutorResult, HostPath } from '@ws/core/executor'
import { createProotExecutor, type ProotExecutorOptions } from '@ws/executor-proot'
import { createScratchDirectory, makeDirectory, ordinaryOwner, type ScratchDirectory } from '@ws/test-fixtures'

export const owner: Owner = ordinaryOwner()
export const asRoot = process.getuid?.() === 0
export const virtual = (path: string): VirtualPath => paths.parseVirtual(path)

/** Executors do not use it; it must not be touched. */
const untouched = new Proxy({}, { get: (_, name) => Promise.reject(new Error(`touched ${String(name)}`)) }) as FileDoor

export interface BindOptions {
  readonly at: string
  readonly source?: string
  readonly kind?: Bind['kind']
  readonly type?: Bind['type']
  readonly access?: Bind['access']
}

export function bind({ at, source, kind = 'mount', type = 'directory', access = 'read-write' }: BindOptions): Bind {
  return {
    kind,
    at: virtual(at),
    type,
    access,
    rules: [],
    ...(source === undefined ? {} : { source: source as HostPath }),
  }
}

export function plan(root: string, binds: readonly BindOptions[], more: Partial<BindPlan> = {}): BindPlan {
  return {
    root: virtual(root),
    binds: binds.map(bind),
    aliases: [],
    restrictions: [],
    renameBorders: [],
    ...more,
  }
}

export function request(command: string, more: Partial<CommandRequest> = {}): CommandRequest {
  return {
    command,
    cwd: virtual('/'),
    env: {},
    login: false,
    shell: '/bin/bash',
    killGrace: 200,
    maxOutputBytes: 65_536,
    ...more,
  }
}

/** A file of the ordinary owner, with its parents. */
export async function put(path: string, content = ''): Promise<string> {
  await makeDirectory(dirname(path))
  await writeFile(path, content)
  if (asRoot) await chown(path, owner.uid, owner.gid)
  return path
}

/** A workspace directory, an executor bound to it, and a way to run commands with hand-written plans. */
export class Bench implements AsyncDisposable {
  readonly root: string
  readonly scratch: ScratchDirectory
  /** The workspace on the host. */
  readonly workspace: string
  readonly executor: AttachedExecutor

  private constructor(root: string, scratch: ScratchDirectory, executor: AttachedExecutor) {
    this.root = root
    this.scratch = scratch
    this.workspace = join(scratch.path, 'ws')
    this.executor = executor
  }

  static async create(root = '/', options: ProotExecutorOptions = {}): Promise<Bench> {
    const scratch = await createScratchDirectory()
    await makeDirectory(join(scratch.path, 'ws'))
    const executor = await createProotExecutor(options).attach({ root: virtual(root), owner, files: untouched })
    return new Bench(root, scratch, executor)
  }

  /** Beside the workspace: what commands must not reach. */
  outside(name: string): string {
    return join(this.scratch.path, name)
  }

  plan(more: readonly BindOptions[] = [], rest: Partial<BindPlan> = {}): BindPlan {
    return plan(this.root, [{ at: this.root, source: this.workspace }, ...more], rest)
  }

  async run(command: string, more: Partial<CommandRequest> = {}, bindPlan = this.plan()): Promise<ExecutorResult> {
    const running = await this.executor.spawn(request(command, { cwd: virtual(this.root), ...more }), bindPlan)
    return running.wait()
  }

  /** Standard output of a command that must succeed. */
  async output(command: string, more: Partial<CommandRequest> = {}, bindPlan = this.plan()): Promise<string> {
    const result = await this.run(command, more, bindPlan)
    if (result.exitCode !== 0) throw new Error(`${command}: ${JSON.stringify(result)}`)
    return result.stdout.trimEnd()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.executor.close()
    await this.scratch.remove()
  }
}
