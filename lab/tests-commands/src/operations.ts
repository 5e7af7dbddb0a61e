import { rmSync } from 'node:fs'
import { join } from 'node:path'

import type { Workspace } from '@ws/core'

import type { Arena } from './arena.ts'
import { type Evidence, askedName } from './evidence.ts'
import type { Random } from './random.ts'

export interface Stage {
  readonly workspace: Workspace
  readonly arena: Arena
  readonly random: Random
  readonly evidence: Evidence
}

export interface Operation {
  readonly name: string
  run(stage: Stage): Promise<unknown>
}

const racedFiles = [
  'tree/dir/file.txt',
  'tree/dir/sub/deep/file.txt',
  'tree/link/file.txt',
  'tree/link/sub/deep/file.txt',
  'tree/dir/sub/../file.txt',
  'tree/away/file.txt',
  'flat/slot.txt',
  'flat/slot-link.txt',
] as const
const racedDirectories = ['tree/dir', 'tree/dir/sub', 'tree/link', 'tree/link/sub/deep', 'tree', 'tree/away'] as const
const racedNames = ['file.txt', 'other.txt', 'sub', 'sub/deep/file.txt'] as const

const file = ({ random }: Stage): string => random.pick(racedFiles)
const directory = ({ random }: Stage): string => random.pick(racedDirectories)
const either = (stage: Stage): string => stage.random.pick([file, directory])(stage)
const named = (stage: Stage): string => `${directory(stage)}/${stage.random.pick(racedNames)}`
const part = (stage: Stage): string => stage.random.pick(['/', 'tree', directory(stage)])
/** A new name for an operation. There are few such names, so the tree remains small. */
const fresh = (stage: Stage, kind: string): string => `${directory(stage)}/${kind}-${stage.random.below(8)}`

/** Works at a path that no racer changes. The entry is removed after the work. */
async function withPlain(stage: Stage, work: (virtual: string, host: string) => Promise<unknown>): Promise<void> {
  const name = `plain/got-${stage.random.below(1_000_000)}`
  const host = join(stage.arena.workspace, name)
  try {
    await work(name, host)
  } finally {
    stage.evidence.landed(host)
    rmSync(host, { recursive: true, force: true })
  }
}

function whole({ evidence }: Stage, { bytes, stat }: Awaited<ReturnType<Workspace['read']>>): void {
  evidence.bytes(bytes)
  evidence.stat(stat)
}

async function search(stage: Stage, pattern: string, regex: boolean): Promise<void> {
  const { workspace, evidence } = stage
  for await (const hit of workspace.search(pattern, { in: part(stage), regex })) {
    evidence.bytes(hit.text)
    evidence.name(hit.path)
  }
}

async function list(stage: Stage, path: string, recursive: boolean): Promise<void> {
  const { workspace, evidence, random } = stage
  for await (const entry of workspace.list(path, { recursive, details: random.below(2) === 0 })) {
    evidence.name(entry.path)
    evidence.stat(entry)
  }
}

/** Every method of a workspace that takes a path. */
const runs: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  stat: async (stage) => stage.evidence.stat(await stage.workspace.stat(either(stage))),
  'stat, following': async (stage) =>
    stage.evidence.stat(await stage.workspace.stat(either(stage), { followLinks: true })),
  realPath: async (stage) => stage.evidence.name(await stage.workspace.realPath(either(stage))),
  async exists({ workspace, evidence, arena: { marker } }) {
    if (await workspace.exists(askedName(marker))) evidence.name(`only-${marker}`)
  },
  read: async (stage) => whole(stage, await stage.workspace.read(file(stage))),
  'read the end': async (stage) => whole(stage, await stage.workspace.read(file(stage), { range: { last: 1000 } })),
  readText: async (stage) => stage.evidence.bytes(await stage.workspace.readText(file(stage))),
  async readStream(stage) {
    const { stream, stat } = await stage.workspace.readStream(file(stage))
    for await (const chunk of stream) stage.evidence.bytes(chunk)
    stage.evidence.stat(stat)
  },
  readLines: async (stage) => stage.evidence.bytes((await stage.workspace.readLines(file(stage))).lines.join('\n')),
  async readSymlink({ workspace, evidence, random }) {
    evidence.bytes(await workspace.readSymlink(random.pick(['tree/dir', 'tree/link', 'flat/slot.txt'])))
  },
  explain: (stage) => stage.workspace.explain({ operation: 'read', path: file(stage) }),
  list: (stage) => list(stage, directory(stage), false),
  'list recursive': (stage) => list(stage, part(stage), true),
  async glob(stage) {
    const globs = stage.random.pick(['*.txt', 'sub/**', '**/only-*', 'dir/**/*.txt'])
    for await (const entry of stage.workspace.glob(globs, { in: part(stage) })) {
      stage.evidence.name(entry.path)
      stage.evidence.stat(entry)
    }
  },
  search: (stage) => search(stage, 'content', false),
  'search by regex': (stage) => search(stage, 'insid[e]|outsid[e]', true),
  write: (stage) =>
    stage.workspace.write(file(stage), 'inside content, written\n', { parents: stage.random.below(2) === 0 }),
  'write stream': (stage) => stage.workspace.write(file(stage), chunks()),
  'write absent': (stage) =>
    stage.workspace.write(fresh(stage, 'made'), 'inside content, made\n', { ifVersion: 'absent' }),
  'write absent, empty': (stage) => stage.workspace.write(fresh(stage, 'empty'), '', { ifVersion: 'absent' }),
  append: (stage) => stage.workspace.append(file(stage), 'x'),
  'append stream': (stage) => stage.workspace.append(file(stage), chunks()),
  async edit(stage) {
    const change = (content: Uint8Array): Buffer => {
      stage.evidence.bytes(content)
      return Buffer.concat([content.subarray(0, 1000), Buffer.from('inside content, edited\n')])
    }
    const edited = await stage.workspace.edit(file(stage), change, { timeout: 20 })
    stage.evidence.stat({ type: 'file', size: edited.size })
  },
  chmod: (stage) => stage.workspace.chmod(file(stage), stage.random.pick([0o600, 0o644])),
  utimes: (stage) => stage.workspace.utimes(file(stage), { modifiedAt: stage.random.below(2 ** 30) }),
  createDirectory: (stage) =>
    stage.workspace.createDirectory(`${fresh(stage, 'directory')}/x`, { recursive: stage.random.below(4) > 0 }),
  createSymlink: (stage) => stage.workspace.createSymlink(fresh(stage, 'link'), 'file.txt'),
  delete: (stage) => stage.workspace.delete(named(stage)),
  'delete recursive': (stage) =>
    stage.workspace.delete(directory(stage), { recursive: true, force: stage.random.below(2) === 0 }),
  'move within': (stage) =>
    stage.workspace.move(named(stage), fresh(stage, 'moved'), { overwrite: stage.random.below(2) === 0 }),
  async 'move in'(stage) {
    const source = `plain/source-${stage.random.below(1_000_000)}`
    await stage.workspace.write(source, 'inside content\n')
    try {
      await stage.workspace.move(source, file(stage), { overwrite: true })
    } finally {
      rmSync(join(stage.arena.workspace, source), { force: true })
    }
  },
  'move out': (stage) => withPlain(stage, (plain) => stage.workspace.move(named(stage), plain)),
  'copy in': (stage) => stage.workspace.copy('plain/seed.txt', file(stage), { overwrite: true }),
  'copy out': (stage) => withPlain(stage, (plain) => stage.workspace.copy(file(stage), plain)),
  'copy recursive': (stage) => withPlain(stage, (plain) => stage.workspace.copy(directory(stage), plain)),
  'copy recursive in': (stage) =>
    withPlain(stage, async (plain) => {
      await stage.workspace.write(`${plain}/sub/file.txt`, 'inside content\n')
      const target = stage.random.pick(['tree/dir', 'tree/dir/sub', 'tree/dir/copied'])
      await stage.workspace.copy(plain, target, { overwrite: true })
    }),
  'copy across mounts': (stage) => across(stage, 'copy'),
  'move across mounts': (stage) => across(stage, 'move'),
}

export const operations: readonly Operation[] = Object.entries(runs).map(([name, run]) => ({ name, run }))

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 3; count += 1) {
    yield Buffer.from('inside content, streamed\n')
    await new Promise(setImmediate)
  }
}

/** Copies or moves to the memory mount, and reads the result there. */
async function across(stage: Stage, method: 'copy' | 'move'): Promise<void> {
  const { workspace, evidence } = stage
  const destination = `/other/got-${stage.random.below(1_000_000)}`
  try {
    await workspace[method](either(stage), destination)
  } finally {
    for await (const entry of workspace.list('/other', { recursive: true })) {
      evidence.name(entry.path)
      if (entry.type === 'file') evidence.bytes((await workspace.read(entry.path)).bytes)
    }
    await workspace.delete(destination, { recursive: true, force: true })
  }
}
