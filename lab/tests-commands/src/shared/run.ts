import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { asOwner, give } from '@ws/test-fixtures'

import { type Arena, createArena } from '../arena.ts'
import { sharedPlans } from './plans.ts'
import type { SharerOrder, SharerReport } from './sharer.ts'

export interface SharedScene {
  readonly host: 'root' | 'an ordinary user'
  readonly processes: 'one process' | 'a process each'
  /** Whether the processes know each other's reserved names. */
  readonly states: 'one state directory' | 'a state directory each'
}

export interface SharedReport extends SharerReport {
  readonly scene: SharedScene
  /** Outside entries that changed owner, mode, time or content, or that appeared or vanished. */
  readonly changes: number
}

export function sharedScenes(): SharedScene[] {
  const hosts: readonly SharedScene['host'][] =
    process.getuid?.() === 0 ? ['root', 'an ordinary user'] : ['an ordinary user']
  return hosts.flatMap((host): SharedScene[] => [
    { host, processes: 'one process', states: 'one state directory' },
    { host, processes: 'a process each', states: 'one state directory' },
    { host, processes: 'a process each', states: 'a state directory each' },
  ])
}

/** Runs two or more workspaces on one directory, with different rules. Their commands exchange entries that the host makes there. */
export async function runShared(
  scene: SharedScene,
  options: { seed: number; duration: number },
): Promise<SharedReport> {
  await using arena = await createArena()
  const targets = closedPart(arena, scene)
  arena.reset()
  const order: Omit<SharerOrder, 'plans'> = { root: arena.workspace, owner: arena.owner, targets, ...options }
  const names = sharedPlans.map(({ name }) => name)
  const groups = scene.processes === 'one process' ? [names] : names.map((name) => [name])
  const reports = await Promise.all(
    groups.map((plans, index) => share(arena, scene, { ...order, plans, seed: order.seed + 10_000 * index }, index)),
  )
  const sum = (of: (report: SharerReport) => number): number => reports.reduce((total, report) => total + of(report), 0)
  return {
    scene,
    commands: sum(({ commands }) => commands),
    refused: sum(({ refused }) => refused),
    exchanges: sum(({ exchanges }) => exchanges),
    untyped: reports.flatMap(({ untyped }) => untyped),
    changes: arena.changes(),
  }
}

/** Paths that only the host itself may reach. Links lead to them. */
function closedPart({ outside, owner }: Arena, { host }: SharedScene): string[] {
  const closed = join(outside, 'closed')
  const secret = join(closed, 'secret')
  const paths = [closed, join(closed, 'empty'), join(closed, 'empty/deep')]
  for (const path of paths) mkdirSync(path, { recursive: true })
  writeFileSync(secret, 'only for the host', { mode: 0o600 })
  for (const path of [...paths, secret]) {
    if (host !== 'root') give(path, owner)
  }
  chmodSync(closed, 0o700)
  return [closed, secret, outside]
}

async function share(arena: Arena, scene: SharedScene, order: SharerOrder, index: number): Promise<SharerReport> {
  const state = join(arena.scratch, scene.states === 'one state directory' ? 'state' : `state-${index}`)
  mkdirSync(state, { recursive: true, mode: 0o700 })
  const isOther = scene.host !== 'root'
  if (isOther) give(state, arena.owner)
  const child = spawn(
    process.execPath,
    ['--conditions=@ws/source', join(import.meta.dirname, 'sharer.ts'), JSON.stringify(order)],
    {
      ...(isOther && asOwner(arena.owner)),
      cwd: '/',
      env: { ...process.env, HOME: arena.scratch, WS_STATE_DIRECTORY: state },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (said === '') return { commands: 0, refused: 0, exchanges: 0, untyped: ['the process ended without a report'] }
  return JSON.parse(said) as SharerReport
}
