import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createWorkspace } from '@ws/core'

import { adapterFiles, type FileWay, plainFiles, workspaceFiles } from './file-ways.ts'
import { compare, type Comparison, type Report, repeat, type Way } from './measure.ts'
import { openRcloneMount, type RcloneMount } from './rclone-mount.ts'
import { usualRules } from './site.ts'

const total = 1_000
const count = 100
const content = Buffer.alloc(1_024, 'x')
const names = Array.from({ length: total }, (_, index) => `files/f${index}`)

/** Compares a workspace on a mount with the bare mount, on one Ceph server. */
export async function measureRclone(report: Report): Promise<void> {
  await using mount = await openRcloneMount('threads/t1')
  const root = '/workspace'
  await using workspace = await createWorkspace({
    mounts: [{ at: root, adapter: mount.adapter }],
    rules: usualRules(root),
  })
  workspace.on('access', () => undefined)
  for (const directory of ['files', 'new']) await mkdir(join(mount.directory, directory))
  await Promise.all(names.map((name) => writeFile(join(mount.directory, name), content)))
  await mount.settle()
  const plain = plainFiles('bare mount', mount.directory)
  const others = [workspaceFiles(workspace), adapterFiles(mount.adapter)]
  for (const { work, ...comparison } of cases(mount)) {
    const way = (files: FileWay): Way => ({ name: files.name, ...work(files) })
    report(await compare('rclone', { ...comparison, reference: way(plain), ways: others.map(way) }))
  }
}

interface Case extends Omit<Comparison, 'reference' | 'ways'> {
  readonly work: (files: FileWay) => Omit<Way, 'name'>
}

function cases({ maxStaleness, settle }: RcloneMount): Case[] {
  const common = { count, target: 1.1, budget: 6_000 }
  const made = new Map<FileWay, string[]>()
  let next = 0
  const create = async (files: FileWay, how: 'write' | 'writeWhole'): Promise<void> => {
    const path = `new/f${(next += 1)}`
    await files[how](path, content)
    made.set(files, [...(made.get(files) ?? []), path])
  }
  // before each run, all uploads of the last round have ended
  const creating = (name: string, how: 'write' | 'writeWhole'): Case => ({
    ...{ ...common, name, budget: 8_000 },
    work: (files) => ({ before: settle, run: repeat(() => create(files, how)) }),
  })

  let start = total
  let began = Number.NEGATIVE_INFINITY
  /** Continues with files that the kernel must request: files that are used again were forgotten meanwhile. */
  const advance = async (): Promise<void> => {
    start += count
    if (start + count <= total) return
    await delay(Math.max(0, began + maxStaleness - performance.now()))
    start = 0
    began = performance.now()
  }
  const each = (name: string, how: 'stat' | 'read'): Case => ({
    ...{ ...common, name },
    work: (files) => ({ before: advance, run: repeat((index) => files[how](names[start + index] ?? '')) }),
  })
  return [
    creating('create a file of 1 KiB', 'write'),
    creating('the same in one step, as ours always are', 'writeWhole'),
    each('stat a file', 'stat'),
    each('read a file of 1 KiB', 'read'),
    {
      ...{ ...common, count: 1, name: `list ${total.toLocaleString('en')} files with size and time` },
      work: (files) => ({ before: () => delay(maxStaleness), run: repeat(() => files.listInTurn('files')) }),
    },
    {
      ...{ ...common, name: 'delete a file' },
      work: (files) => ({
        async before() {
          while ((made.get(files)?.length ?? 0) < count) await create(files, 'write')
          await settle()
        },
        run: repeat(() => files.delete(made.get(files)?.pop() ?? '')),
      }),
    },
  ]
}
