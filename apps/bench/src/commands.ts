import { spawn } from 'node:child_process'

import { type Rule, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { ordinaryOwner } from '@ws/test-fixtures'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { recordStart } from './replay.ts'
import { type Site, openSite } from './site.ts'
import { measureStarts } from './starts.ts'

interface Door {
  readonly name: string
  readonly at: '/' | '/workspace'
  readonly create: () => Executor
  /** Those that it can hold. Default: the usual ones. */
  readonly rules?: readonly Rule[] | undefined
  /** The program that is started for a command. */
  readonly program?: RegExp | undefined
  /** A command line as one would write it by hand, without what makes it safe. */
  readonly plain?: ((directory: string) => readonly string[]) | undefined
}

const doors: readonly Door[] = [
  {
    name: 'bubblewrap, started cold, mount at /workspace',
    at: '/workspace',
    create: () => createBubblewrapExecutor({ warm: false }),
    program: /bwrap$/,
    plain: (directory) => [...bwrap, '--bind', directory, '/workspace', '--chdir', '/workspace', ...command],
  },
  {
    name: 'bubblewrap with proot, mount at /',
    at: '/',
    create: () => createBubblewrapExecutor({ root: 'translated' }),
    program: /bwrap$/,
  },
  {
    name: 'proot, mount at /workspace',
    at: '/workspace',
    create: () => createProotExecutor(),
    rules: [rules.withinWorkspace('/workspace'), rules.deny('/workspace/secrets'), rules.deny('/workspace/.env')],
    program: /./,
    plain: (directory) => ['proot', '-b', `${directory}:/workspace`, '-w', '/workspace', ...command],
  },
  { name: 'virtual, mount at /workspace', at: '/workspace', create: () => createVirtualExecutor() },
]

const command = ['/bin/sh', '-c', 'true'] as const
const bwrap = [
  ...['bwrap', '--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr'],
  ...['--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
  ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
]

/** `true` in a shell, in every executor, beside the same start made by a bare `child_process.spawn`. */
export async function measureCommands(report: (measurement: Measurement) => void): Promise<void> {
  for (const door of doors) {
    let measurements: Measurement[]
    try {
      measurements = await measureDoor(door)
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      const figures = [{ way: own, median: Number.NaN, min: Number.NaN, max: Number.NaN, samples: 0, failure }]
      measurements = [{ section: 'commands', name: door.name, against: 'ms', figures }]
    }
    for (const measurement of measurements) report(measurement)
  }
  await measureStarts(report, spawned)
}

async function measureDoor({ name, at, create, rules: given, program, plain }: Door): Promise<Measurement[]> {
  await using site = await openSite({ at, executors: [create()], rules: given })
  const run = async (): Promise<void> => {
    const { exitCode, stderr } = await site.workspace.exec('true', { shell: '/bin/sh', login: false })
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
  }
  await run()
  const ours: Way = { name: own, run }
  if (program === undefined) {
    const ways = [await justBash(site)]
    return [await compare('commands', { name: `true, ${name}`, reference: ways[0] ?? ours, ways: [ours], count: 1 })]
  }
  using recorded = disposable(await recordStart(run, (path) => program.test(path)))
  const reference: Way = { name: 'the same argv by spawn', run: () => recorded.value.replay() }
  const others: Way[] = plain === undefined ? [] : [{ name: 'plain command line', run: spawned(plain(site.directory)) }]
  if (name.startsWith('bubblewrap, ')) others.push(await sandboxRuntime(site))
  const ways = [ours, ...others]
  const options = { reference, ways, count: 1, budget: 6_000, maxRounds: 80 }
  const ratio = await compare('commands', { name: `true, ${name}`, ...options })
  return [ratio, difference(ratio)]
}

/** Own code, in milliseconds: the rest when the same start is taken away. */
function difference({ name, figures, section }: Measurement): Measurement {
  const time = (way: string): number => (figures.find((one) => one.way === way)?.microseconds ?? Number.NaN) / 1_000
  const value = time(own) - time('the same argv by spawn')
  const samples = figures.find((one) => one.way === own)?.samples ?? 0
  return {
    section,
    name: `own code, ${name}`,
    against: 'ms',
    target: 1,
    figures: [{ way: own, median: value, min: value, max: value, samples, ...missing(value) }],
    note: 'difference of the medians',
  }
}

function missing(value: number): { readonly failure?: string } {
  return Number.isNaN(value) ? { failure: 'one of the two could not be measured' } : {}
}

function spawned([program = '', ...parameters]: readonly string[]): Way['run'] {
  const owner = process.getuid?.() === 0 ? ordinaryOwner() : {}
  return () =>
    new Promise<void>((resolve, reject) => {
      const env = { PATH: '/usr/bin:/bin' }
      const child = spawn(program, parameters, {
        ...owner,
        env,
        cwd: '/',
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let errors = ''
      child.stdout.resume()
      child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('latin1')))
      child.on('error', reject)
      child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}: ${errors.trim()}`))))
    })
}

async function justBash({ directory }: Site): Promise<Way> {
  const { Bash, ReadWriteFs } = await import('just-bash')
  const bash = new Bash({ fs: new ReadWriteFs({ root: directory }), cwd: '/' })
  return { name: 'just-bash', run: () => bash.exec('true') }
}

async function sandboxRuntime({ directory }: Site): Promise<Way> {
  const name = 'sandbox-runtime'
  try {
    const { SandboxManager } = await import('@anthropic-ai/sandbox-runtime')
    const network = { allowedDomains: [], deniedDomains: [] }
    const filesystem = { denyRead: [], allowWrite: [directory], denyWrite: [] }
    await SandboxManager.initialize({ network, filesystem })
    const wrap = (): Promise<string> => SandboxManager.wrapWithSandbox('true')
    await wrap()
    return {
      name,
      run: async () => {
        await spawned(['/bin/sh', '-c', await wrap()])(1)
        SandboxManager.cleanupAfterCommand()
      },
    }
  } catch (error) {
    // Shown in the table: a figure that cannot be measured here is reported, not left out.
    return { name, run: () => Promise.reject(error) }
  }
}

function disposable<Value extends { close(): void }>(value: Value): Disposable & { readonly value: Value } {
  return { value, [Symbol.dispose]: () => value.close() }
}
