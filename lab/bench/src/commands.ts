import { spawn } from 'node:child_process'

import { type Rule, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { ordinaryOwner } from '@ws/test-fixtures'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { openSite } from './site.ts'
import { measureStarts } from './starts.ts'

interface Door {
  readonly name: string
  readonly at: '/' | '/workspace'
  readonly create: () => Executor
  /** Those that it can hold. Default: the usual ones. */
  readonly rules?: readonly Rule[] | undefined
  /** A command line as one would write it by hand, without what makes it safe. */
  readonly plain?: ((directory: string) => readonly string[]) | undefined
}

const doors: readonly Door[] = [
  {
    name: 'bubblewrap, started cold, mount at /workspace',
    at: '/workspace',
    create: () => createBubblewrapExecutor({ warm: false }),
    plain: (directory) => [...bwrap, '--bind', directory, '/workspace', '--chdir', '/workspace', ...command],
  },
  {
    name: 'bubblewrap with proot, mount at /',
    at: '/',
    create: () => createBubblewrapExecutor({ root: 'translated' }),
  },
  {
    name: 'proot, mount at /workspace',
    at: '/workspace',
    create: () => createProotExecutor(),
    rules: [rules.withinWorkspace('/workspace'), rules.deny('/workspace/secrets'), rules.deny('/workspace/.env')],
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

/** `true` in a shell, in every executor, beside a plain `child_process.spawn` of that shell. */
export async function measureCommands(report: (measurement: Measurement) => void): Promise<void> {
  for (const door of doors) {
    try {
      report(await measureDoor(door))
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      const figures = [{ way: own, median: Number.NaN, min: Number.NaN, max: Number.NaN, samples: 0, failure }]
      report({ section: 'commands', name: door.name, against: 'ms', figures })
    }
  }
  await measureStarts(report, spawned)
}

async function measureDoor({ name, at, create, rules: given, plain }: Door): Promise<Measurement> {
  await using site = await openSite({ at, executors: [create()], rules: given })
  const run = async (): Promise<void> => {
    const { exitCode, stderr } = await site.workspace.exec('true', { shell: '/bin/sh', login: false })
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
  }
  await run()
  const reference: Way = { name: 'plain spawn', run: spawned(command) }
  const others: Way[] = plain === undefined ? [] : [{ name: 'plain command line', run: spawned(plain(site.directory)) }]
  const ways = [{ name: own, run }, ...others]
  return await compare('commands', { name: `true, ${name}`, reference, ways, count: 1, budget: 6_000, maxRounds: 80 })
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
