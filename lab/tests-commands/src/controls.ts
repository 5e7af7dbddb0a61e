import { readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { type Arena, createArena } from './arena.ts'
import { noCounts } from './counts.ts'
import { Evidence } from './evidence.ts'
import { Racer, type RaceName } from './racer.ts'

export interface ControlReport {
  readonly name: string
  readonly operations: number
  readonly leaked: number
}

/** Controls that check first and act then, as file tools commonly do. They must leak if the race is real. */
const controls: Readonly<Record<string, (arena: Arena, evidence: Evidence) => Promise<void>>> = {
  async 'realpath, then readFile'(arena, evidence) {
    evidence.bytes(await readFile(await checked(arena, 'tree/dir/file.txt')))
  },
  async 'realpath, then readdir'(arena, evidence) {
    for (const name of await readdir(await checked(arena, 'tree/dir'))) evidence.name(name)
  },
  async 'realpath of the parent, then writeFile'(arena) {
    const path = join(arena.workspace, 'tree/dir/file.txt')
    await checked(arena, 'tree/dir')
    await writeFile(join(dirname(path), basename(path)), 'inside content\n')
  },
  async 'realpath, then rm recursive'(arena) {
    await rm(join(await checked(arena, 'tree/dir'), 'sub'), { recursive: true })
  },
}

async function checked(arena: Arena, path: string): Promise<string> {
  const given = join(arena.workspace, path)
  const real = await realpath(given)
  if (!`${real}/`.startsWith(`${arena.workspace}/`)) throw new Error('outside')
  return given
}

export interface ControlOptions {
  readonly race: RaceName
  readonly seed: number
  readonly operations: number
  /** Stop a control as soon as it has leaked once. Default false. */
  readonly untilLeak?: boolean
}

export async function runControls({
  race,
  seed,
  operations,
  untilLeak = false,
}: ControlOptions): Promise<ControlReport[]> {
  const reports: ControlReport[] = []
  for (const [name, act] of Object.entries(controls)) {
    await using arena = await createArena()
    await using _racer = await Racer.start({ race, scratch: arena.scratch, owner: arena.owner, seed })
    let leaked = 0
    let ran = 0
    for (; ran < operations && !(untilLeak && leaked > 0); ran += 1) {
      const counts = noCounts()
      await act(arena, new Evidence(arena, counts)).catch(() => undefined)
      const changed = arena.changes() > 0
      if (changed) arena.reset()
      if (changed || counts.bytes + counts.names > 0) leaked += 1
    }
    reports.push({ name, operations: ran, leaked })
  }
  return reports
}
