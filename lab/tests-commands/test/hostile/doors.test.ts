import type { Workspace } from '@ws/core'
import { systemNames } from '@ws/core/executor'
import { codeOf, component, describeWith, hostileNames, hostilePaths } from '@ws/test-fixtures'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { type Door, kernelDoors, openSite, type Site, treeOf } from '../doors/site.ts'

/**
 * Reads, and makes exclusively, each path of a list, and says how that ended: content, or the kernel's error. One process
 * for all of them.
 */
const program = `
import errno, json, os, sys

def attempt(path, work):
    try:
        return work(path)
    except OSError as error:
        return errno.errorcode[error.errno]
    except ValueError:
        return 'EINVAL'

def read(path):
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as file:
        return 'content ' + (file.read(100) or b'').decode('latin1')

def make(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return 'made'

def stat(path):
    mode = os.lstat(path).st_mode >> 12
    return {4: 'directory', 8: 'file', 10: 'symlink'}.get(mode, 'other')

def where(path):
    return os.path.realpath(path)

paths = json.load(open(sys.argv[1]))
json.dump([[attempt(path, work) for work in (where, stat, read, make)] for path in paths], open(sys.argv[2], 'w'))
`

interface Verdicts {
  readonly stat: string
  readonly read: string
  readonly make: string
}

/** The API's answers, in the kernel's words. */
async function throughApi(workspace: Workspace, path: string): Promise<Verdicts> {
  const stat = await orCode(async () => (await workspace.stat(path)).type)
  const read = await orCode(async () => {
    const { bytes } = await workspace.read(path)
    return `content ${Buffer.from(bytes).toString('latin1').slice(0, 100)}`
  })
  const make = await orCode(async () => {
    await workspace.write(path, '', { ifVersion: 'absent', parents: false })
    await workspace.delete(path)
    return 'made'
  })
  return { stat, read, make }
}

async function orCode(work: () => Promise<string>): Promise<string> {
  try {
    return await work()
  } catch (error) {
    return codeOf(Promise.reject(error as Error))
  }
}

/** Only the words differ: what a condition refuses, and what lies above the mounts or is the system's. */
function sameWords(api: string, command: string): boolean {
  if (api === command) return true
  const words: Record<string, readonly string[]> = {
    ECONFLICT: ['EEXIST', 'ENOTDIR', 'EISDIR'],
    EISDIR: ['EEXIST', 'ENOENT'],
    ENOTDIR: ['EISDIR'],
    EEXIST: ['EISDIR'],
    EROFS: ['EACCES', 'EROFS', 'EEXIST', 'ENOENT', 'ENOTDIR'],
    EBUSY: ['EEXIST', 'EACCES', 'EROFS', 'ENOENT', 'EISDIR'],
  }
  return words[api]?.includes(command) ?? false
}

async function throughCommand(site: Site, paths: readonly string[]): Promise<string[][]> {
  await site.workspace.write('paths.json', JSON.stringify(paths))
  await site.workspace.write('program.py', program)
  await site.run(`cd ${site.at('')} && python3 program.py paths.json answers.json`)
  const answers = JSON.parse(await site.workspace.readText('answers.json')) as string[][]
  for (const name of ['paths.json', 'program.py', 'answers.json']) await site.workspace.delete(name)
  return answers
}

const timeout = 120_000

for (const door of kernelDoors) {
  describeWith(
    [...door.components, 'python3' as const].map(component),
    `hostile input at both doors: ${door.name}`,
    { tags: [...door.tags] },
    () => {
      const open = (): Promise<Site> =>
        openSite({
          root: door.root,
          executor: door.create(),
          files: { 'dir/x': 'x\n', 'dir/sub/y': 'y\n' },
          require: 'untrusted',
        })

      it('[PC3, PC19] each path comes to the same verdict, and none leads outside', { timeout }, async () => {
        await using site = await open()
        await symlink('file.txt', join(site.directory, 'in'))
        const tree = await treeOf(site.directory)
        // a path of more bytes than the kernel takes is never looked at: it is cut short for the API by normalising
        const paths = hostilePaths(site.canary)
          .map(({ value }) => value)
          .filter((value) => Buffer.byteLength(value) <= 4_095)
        const answers = await throughCommand(site, paths)
        const different: string[] = []
        let [same, compared] = [0, 0]
        for (const [index, path] of paths.entries()) {
          const [where = '', stat = '', read = '', make = ''] = answers[index] ?? []
          const api = await throughApi(site.workspace, path)
          for (const answer of [stat, read, make, api.stat, api.read, api.make]) {
            expect(answer, JSON.stringify(path)).not.toContain(site.secret)
          }
          if (isExcepted(path, where, api) || isTooLong(door, path)) continue
          compared += 1
          const alike = sameWords(api.stat, stat) && sameWords(api.read, read) && sameWords(api.make, make)
          if (alike) same += 1
          else
            different.push(
              `${JSON.stringify(path).slice(0, 150)} → ${where.slice(0, 80)}: ${JSON.stringify(api)} | ${stat}, ${read}, ${make}`,
            )
        }
        expect(different).toEqual([])
        expect(compared).toBeGreaterThan(400)
        expect(same).toBe(compared)
        expect(await treeOf(site.directory)).toEqual(tree)
      })

      it('[PC20, PC21] each name that one door makes is the same at the other', { timeout }, async () => {
        await using site = await open()
        const { workspace } = site
        const all = hostileNames().map(({ value }) => value)
        const names = all.filter((name) => !isTooLong(door, name))
        expect(names.length).toBeGreaterThan(300)
        for (const name of names) await workspace.write(`made/${name}`, name)
        await workspace.write('names.json', JSON.stringify(names))
        await workspace.write(
          'program.py',
          `
import json, os
names = json.load(open('names.json'))
assert sorted(os.listdir('made')) == sorted(names), set(os.listdir('made')) ^ set(names)
os.mkdir('back')
for name in names:
    assert open('made/' + name, newline='').read() == name, name
    open('back/' + name, 'w', newline='').write(name)
`,
        )
        await site.run(`cd ${site.at('')} && python3 program.py`)
        const found: string[] = []
        for await (const entry of workspace.list('back')) found.push(entry.name)
        expect(found.sort()).toEqual([...names].sort())
        for (const name of names) expect(await workspace.readText(`back/${name}`), name).toBe(name)
      })
    },
  )
}

/** Where the doors are meant to differ. */
function isExcepted(path: string, where: string, { stat }: Verdicts): boolean {
  // above the root: the kernel stays at the root
  if (stat === 'EOUTSIDE') return true
  // the empty path is the workspace's root, and nothing to the kernel
  if (path === '') return true
  // links do not lead on because of a slash at the end: they do in the kernel
  if (/^in[/]+[.]?$/.test(path)) return true
  // the system's own names, which are commands' alone; temporary files of the API
  const isSystem = (absolute: string): boolean => {
    const [first = ''] = absolute.split('/').filter((name) => name !== '' && name !== '.')
    return (systemNames as readonly string[]).includes(first)
  }
  return isSystem(where) || isSystem(path) || path.includes('.ws-tmp-')
}

/** proot takes names of 254 bytes, and shorter paths. At `/` the path on the host is longer than the command's own. */
function isTooLong({ root, components }: Door, path: string): boolean {
  const bytes = Buffer.byteLength(path)
  if (!components.includes('proot')) return root === '/' && bytes > 3_900
  return root === '/' && (bytes > 3_000 || path.split('/').some((name) => Buffer.byteLength(name) === 255))
}
