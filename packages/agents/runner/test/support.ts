import { chown, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createRunner, defineStepType, type Runner, type RunnerOptions } from '@ws/runner'
import type { StepTypes } from '../src/types/types.ts'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { z } from 'zod'

/** A workspace, an output and a state directory on this disk. */
export interface Site extends AsyncDisposable {
  readonly directory: string
  readonly workspace: string
  readonly output: string
  readonly state: string
  /** Makes a runner, which is closed with the site. */
  runner(options?: Partial<RunnerOptions>): Promise<Runner>
  write(path: string, content: string): Promise<void>
  read(path: string): Promise<string>
}

export interface SiteOptions {
  /** The output's path from the site's directory. Default `workspace/out`, which lies in the workspace. */
  readonly output?: string | undefined
  readonly files?: Readonly<Record<string, string>> | undefined
}

export async function createSite({ output: place = 'workspace/out', files = {} }: SiteOptions = {}): Promise<Site> {
  const scratch = await createScratchDirectory({ prefix: 'runner-' })
  const workspace = await scratch.createDirectory('workspace')
  const output = await scratch.createDirectory(place)
  const state = join(scratch.path, 'state')
  const runners: Runner[] = []
  const site: Site = {
    directory: scratch.path,
    workspace,
    output,
    state,
    async runner(options = {}) {
      const runner = await createRunner({ workspace, output, state, ...options })
      runners.push(runner)
      return runner
    },
    async write(path, content) {
      const at = join(scratch.path, path)
      await mkdir(dirname(at), { recursive: true })
      await writeFile(at, content)
      const { uid, gid } = ordinaryOwner()
      if (process.getuid?.() === 0) for (const one of [dirname(at), at]) await chown(one, uid, gid)
    },
    read: (path) => readFile(join(scratch.path, path), 'utf8'),
    async [Symbol.asyncDispose]() {
      for (const runner of runners) await runner.close()
      await scratch.remove()
    },
  }
  for (const [path, content] of Object.entries(files)) await site.write(path, content)
  return site
}

/** Real commands, as an ordinary user. */
export const commands = { executors: [createBubblewrapExecutor()] } as const

/** Types without processes: they write, copy and fail as the plan says. */
export const testTypes: StepTypes = {
  nothing: defineStepType({ settings: z.strictObject({}), run: async () => undefined }),
  put: defineStepType({
    settings: z.record(z.string(), z.string()),
    async run(files, context) {
      for (const [path, content] of Object.entries(files)) await context.write(path, content)
      return undefined
    },
  }),
  copy: defineStepType({
    settings: z.strictObject({ from: z.string(), to: z.string() }),
    async run({ from, to }, context) {
      await context.write(to, await context.read(from))
      return undefined
    },
  }),
  fail: defineStepType({
    settings: z.strictObject({ message: z.string().default('told to fail') }),
    async run({ message }) {
      throw new Error(message)
    },
  }),
}

/** Every entry below a directory with its content, but for these. */
export async function treeOf(directory: string, without: readonly string[] = []): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(directory.length + 1)
    if (without.some((one) => name === one || name.startsWith(`${one}/`))) continue
    if (entry.isFile()) found[name] = await readFile(path, 'latin1')
    else found[name] = entry.isSymbolicLink() ? `-> ${await readlink(path)}` : 'directory'
  }
  return found
}
