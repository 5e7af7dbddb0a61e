import { rmSync } from 'node:fs'
import { join } from 'node:path'

import type { Workspace } from '@ws/core'

import type { Arena } from './arena.ts'
import { type Evidence, askedName } from './evidence.ts'
import type { Random } from './random.ts'

/** The parts that an operation works with. */
export interface Stage {
  readonly workspace: Workspace
  readonly arena: Arena
  readonly random: Random
  readonly evidence: Evidence
}

export interface Operation {
  readonly name: string
  run(stage: Stage): Promise<void>
}

/** Paths through what is raced. */
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
/** A name of the operations' own, few enough that the tree stays small. */
const fresh = (stage: Stage, kind: string): string => `${directory(stage)}/${kind}-${stage.random.below(8)}`

/** Works at a place that no racer changes; the place is removed after the work. */
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

async function search(stage: Stage, pattern: string, regex: boolean): Promise<void> {
  const { workspace, evidence, random } = stage
  for await (const hit of workspace.search(pattern, { in: random.pick(['/', 'tree', directory(stage)]), regex })) {
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
export const operations: readonly [Operation, ...Operation[]] = [
  {
    name: 'stat',
    async run(stage) {
      stage.evidence.stat(await stage.workspace.stat(stage.random.pick([file, directory])(stage)))
    },
  },
  {
    name: 'stat, following',
    async run(stage) {
      const path = stage.random.pick([file, directory])(stage)
      stage.evidence.stat(await stage.workspace.stat(path, { followLinks: true }))
    },
  },
  {
    name: 'realPath',
    async run(stage) {
      stage.evidence.name(await stage.workspace.realPath(stage.random.pick([file, directory])(stage)))
    },
  },
  {
    name: 'exists',
    async run(stage) {
      const { marker } = stage.arena
      if (await stage.workspace.exists(askedName(marker))) stage.evidence.name(`only-${marker}`)
    },
  },
  {
    name: 'read',
    async run(stage) {
      const { bytes, stat } = await stage.workspace.read(file(stage))
      stage.evidence.bytes(bytes)
      stage.evidence.stat(stat)
    },
  },
  {
    name: 'read the end',
    async run(stage) {
      const { bytes, stat } = await stage.workspace.read(file(stage), { range: { last: 1000 } })
      stage.evidence.bytes(bytes)
      stage.evidence.stat(stat)
    },
  },
  {
    name: 'readText',
    async run(stage) {
      stage.evidence.bytes(await stage.workspace.readText(file(stage)))
    },
  },
  {
    name: 'readStream',
    async run(stage) {
      const { stream, stat } = await stage.workspace.readStream(file(stage))
      for await (const chunk of stream) stage.evidence.bytes(chunk)
      stage.evidence.stat(stat)
    },
  },
  {
    name: 'readLines',
    async run(stage) {
      stage.evidence.bytes((await stage.workspace.readLines(file(stage))).lines.join('\n'))
    },
  },
  {
    name: 'readSymlink',
    async run(stage) {
      stage.evidence.bytes(
        await stage.workspace.readSymlink(stage.random.pick(['tree/dir', 'tree/link', 'flat/slot.txt'])),
      )
    },
  },
  {
    name: 'explain',
    async run(stage) {
      await stage.workspace.explain({ operation: 'read', path: file(stage) })
    },
  },
  { name: 'list', run: (stage) => list(stage, directory(stage), false) },
  { name: 'list recursive', run: (stage) => list(stage, stage.random.pick(['/', 'tree', directory(stage)]), true) },
  {
    name: 'glob',
    async run(stage) {
      const globs = stage.random.pick(['*.txt', 'sub/**', '**/only-*', 'dir/**/*.txt'])
      for await (const entry of stage.workspace.glob(globs, {
        in: stage.random.pick(['/', 'tree', directory(stage)]),
      })) {
        stage.evidence.name(entry.path)
        stage.evidence.stat(entry)
      }
    },
  },
  { name: 'search', run: (stage) => search(stage, 'content', false) },
  { name: 'search by regex', run: (stage) => search(stage, 'insid[e]|outsid[e]', true) },
  {
    name: 'write',
    async run(stage) {
      await stage.workspace.write(file(stage), 'inside content, written\n', { parents: stage.random.below(2) === 0 })
    },
  },
  {
    name: 'write stream',
    async run(stage) {
      await stage.workspace.write(file(stage), chunks())
    },
  },
  {
    name: 'write absent',
    async run(stage) {
      await stage.workspace.write(fresh(stage, 'made'), 'inside content, made\n', { ifVersion: 'absent' })
    },
  },
  {
    name: 'write absent, empty',
    async run(stage) {
      await stage.workspace.write(fresh(stage, 'empty'), '', { ifVersion: 'absent' })
    },
  },
  {
    name: 'append',
    async run(stage) {
      await stage.workspace.append(file(stage), 'x')
    },
  },
  {
    name: 'append stream',
    async run(stage) {
      await stage.workspace.append(file(stage), chunks())
    },
  },
  {
    name: 'edit',
    async run(stage) {
      const edited = await stage.workspace.edit(
        file(stage),
        (content) => {
          stage.evidence.bytes(content)
          return Buffer.concat([content.subarray(0, 1000), Buffer.from('inside content, edited\n')])
        },
        { timeout: 20 },
      )
      stage.evidence.stat({ type: 'file', size: edited.size })
    },
  },
  {
    name: 'chmod',
    async run(stage) {
      await stage.workspace.chmod(file(stage), stage.random.pick([0o600, 0o644]))
    },
  },
  {
    name: 'utimes',
    async run(stage) {
      await stage.workspace.utimes(file(stage), { modifiedAt: stage.random.below(2 ** 30) })
    },
  },
  {
    name: 'createDirectory',
    async run(stage) {
      await stage.workspace.createDirectory(`${fresh(stage, 'directory')}/x`, { recursive: stage.random.below(4) > 0 })
    },
  },
  {
    name: 'createSymlink',
    async run(stage) {
      await stage.workspace.createSymlink(fresh(stage, 'link'), 'file.txt')
    },
  },
  {
    name: 'delete',
    async run(stage) {
      await stage.workspace.delete(`${directory(stage)}/${stage.random.pick(racedNames)}`)
    },
  },
  {
    name: 'delete recursive',
    async run(stage) {
      await stage.workspace.delete(directory(stage), { recursive: true, force: stage.random.below(2) === 0 })
    },
  },
  {
    name: 'move within',
    async run(stage) {
      const source = `${directory(stage)}/${stage.random.pick(racedNames)}`
      await stage.workspace.move(source, fresh(stage, 'moved'), { overwrite: stage.random.below(2) === 0 })
    },
  },
  {
    name: 'move in',
    async run(stage) {
      const source = `plain/source-${stage.random.below(1_000_000)}`
      await stage.workspace.write(source, 'inside content\n')
      try {
        await stage.workspace.move(source, file(stage), { overwrite: true })
      } finally {
        rmSync(join(stage.arena.workspace, source), { force: true })
      }
    },
  },
  {
    name: 'move out',
    run: (stage) =>
      withPlain(stage, (plain) => stage.workspace.move(`${directory(stage)}/${stage.random.pick(racedNames)}`, plain)),
  },
  {
    name: 'copy in',
    async run(stage) {
      await stage.workspace.copy('plain/seed.txt', file(stage), { overwrite: true })
    },
  },
  { name: 'copy out', run: (stage) => withPlain(stage, (plain) => stage.workspace.copy(file(stage), plain)) },
  {
    name: 'copy recursive',
    run: (stage) => withPlain(stage, (plain) => stage.workspace.copy(directory(stage), plain)),
  },
  {
    name: 'copy recursive in',
    run: (stage) =>
      withPlain(stage, async (plain) => {
        await stage.workspace.write(`${plain}/sub/file.txt`, 'inside content\n')
        await stage.workspace.copy(plain, stage.random.pick(['tree/dir', 'tree/dir/sub', 'tree/dir/copied']), {
          overwrite: true,
        })
      }),
  },
  { name: 'copy across mounts', run: (stage) => across(stage, 'copy') },
  { name: 'move across mounts', run: (stage) => across(stage, 'move') },
]

async function* chunks(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 3; count += 1) {
    yield Buffer.from('inside content, streamed\n')
    await new Promise(setImmediate)
  }
}

/** To the memory mount; the copy there is looked at. */
async function across(stage: Stage, method: 'copy' | 'move'): Promise<void> {
  const { workspace, evidence } = stage
  const destination = `/other/got-${stage.random.below(1_000_000)}`
  try {
    await workspace[method](stage.random.pick([file, directory])(stage), destination)
  } finally {
    for await (const entry of workspace.list('/other', { recursive: true })) {
      evidence.name(entry.path)
      if (entry.type === 'file') evidence.bytes((await workspace.read(entry.path)).bytes)
    }
    await workspace.delete(destination, { recursive: true, force: true })
  }
}
