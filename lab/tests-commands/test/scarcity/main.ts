// Uses a workspace while ever less of something is left, then with plenty again; prints the findings. It is run with a
// small limit, and ends at the first unhandled rejection.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { ordinaryOwner } from '@ws/test-fixtures'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { traces } from '../ends/traces.ts'
import {
  type Call,
  commandCalls,
  commandToolCalls,
  fileCalls,
  outcomeOf,
  prepareFiles,
  sessionCalls,
  toolCalls,
} from './calls.ts'
import { doorOf } from './doors.ts'
import { leavers, type Scarce } from './leave.ts'

const [place = '', kind = '', name = '', lefts = ''] = process.argv.slice(2)
const leave = Object.hasOwn(leavers, kind) ? leavers[kind as Scarce] : undefined
if (leave === undefined) throw new Error(`nothing makes ${kind} scarce`)
const door = doorOf(name)
const directory = join(place, 'work')
mkdirSync(directory)
if (process.getuid?.() === 0) chownSync(directory, ordinaryOwner().uid, ordinaryOwner().gid)
const faults: string[] = []
const outcomes: Record<string, number> = {}

const open = (executors: readonly Executor[]): Promise<Workspace> =>
  createWorkspace({
    mounts: [{ at: door.root, adapter: () => createLocalAdapter({ root: directory, owner: ordinaryOwner() }) }],
    executors,
  })
const openDoor = () => open(door.create === undefined ? [] : [door.create()])
let probes = 0
const whole: Call = {
  name: 'a workspace of its own',
  async run() {
    if (door.create === undefined || door.name === 'virtual') return await (await openDoor()).close()
    // With options of its own it is probed anew. An executor that cannot be tried must not be left for the next.
    probes += 1
    const own = await open([door.create({ fileBytes: 1e9 + probes }), createVirtualExecutor()])
    await own.close()
    if (own.executor?.name === 'virtual') throw new Error('another executor was chosen')
  },
}
const calls: readonly Call[] = [
  ...fileCalls,
  ...toolCalls,
  ...(door.create === undefined ? [] : [...commandCalls, ...commandToolCalls]),
  ...(door.terminals ? sessionCalls : []),
  whole,
]
/** These take the same place from one another, with plenty too. */
const alone = new Set(['copy', 'move', 'delete'])

async function useAll(workspace: Workspace, state: string): Promise<void> {
  for (const call of calls) note(`${state}: ${call.name}`, await outcomeOf(call, workspace))
  // Together they take the last descriptors from one another.
  const together = calls.filter((call) => !alone.has(call.name))
  const answers = await Promise.all([...together, ...together].map((call) => outcomeOf(call, workspace)))
  answers.forEach((answer, index) => note(`${state}: ${together[index % together.length]?.name} beside others`, answer))
}

function note(where: string, outcome: string): void {
  const kind = outcome.startsWith('FAULT') ? 'FAULT' : outcome
  outcomes[kind] = (outcomes[kind] ?? 0) + 1
  if (kind === 'FAULT') faults.push(`${where}: ${outcome}`)
}

/** Closes it, and waits for the helpers of this process, which stay for 2 s. */
async function end(workspace: Workspace) {
  await workspace.close()
  await delay(2_500)
  const { descriptors, children, temporary } = traces(directory)
  // The process keeps one in reserve, from the first time that it might need it.
  return { descriptors: descriptors.filter((target) => target !== '/dev/null'), children, temporary }
}

const first = await openDoor()
await prepareFiles(first)
// As many helpers and threads as stay for a while are there before it is counted.
await useAll(first, 'with plenty')
const before = await end(first)
const workspace = await openDoor()
for (const left of lefts.split(',').map(Number)) {
  const giveBack = await leave(left, place)
  try {
    await useAll(workspace, `${left} left`)
  } finally {
    await giveBack()
  }
}
for (const call of calls) {
  const outcome = await outcomeOf(call, workspace)
  if (outcome !== 'done') faults.push(`with plenty again: ${call.name}: ${outcome}`)
}
console.log(JSON.stringify({ faults, outcomes, before, after: await end(workspace) }))
