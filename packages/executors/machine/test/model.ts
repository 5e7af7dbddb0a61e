import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { paths, type VirtualPath, type Workspace } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'

export type Node =
  | { readonly type: 'file'; readonly content: string; readonly isProgram: boolean }
  | { readonly type: 'directory' }
  | { readonly type: 'symlink'; readonly target: string }

/** Paths below the root, such as `/a/b`. */
export type Model = Map<string, Node>

export interface Change {
  readonly apply: (model: Model) => void
  readonly command: (root: string) => string
  readonly call: (workspace: Workspace, root: string) => Promise<unknown>
}

const names = [
  'a',
  'b.txt',
  '-rf',
  'new\nline',
  'größe',
  ' sp ace ',
  'quo\'te"',
  '*',
  'back\\slash',
  '$HOME',
  `long-${'x'.repeat(180)}`,
]
const contents = ['', 'x', 'two\nlines\n', '\u{0}bin\u{0}', 'ä'.repeat(400), 'y'.repeat(70_000)]

/** Draws a change that is possible in a model. */
export function drawChange(model: Model, random: () => number): Change {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const directories = ['', ...[...model].flatMap(([path, { type }]) => (type === 'directory' ? [path] : []))]
  const all = [...model.keys()]
  const shallow = directories.filter((path) => path.split('/').length < 4)
  const fresh = () => {
    for (let attempt = 0; ; attempt += 1) {
      const path = `${pick(shallow)}/${pick(names)}${attempt < 20 ? '' : attempt}`
      if (!model.has(path)) return path
    }
  }
  const files = [...model].flatMap(([path, { type }]) => (type === 'file' ? [path] : []))
  const at = (root: string, path: string) => quoteForShell(root + path)
  const kind = pick([
    'write',
    'write',
    'write',
    'replace',
    'replace',
    'delete',
    'mkdir',
    'link',
    'move',
    'program',
    'exchange',
  ])
  if (kind === 'replace' && files.length > 0) return write(pick(files), pick(contents))
  if (kind === 'delete' && all.length > 0) return remove(pick(all))
  if (kind === 'mkdir') return makeDirectory(fresh())
  if (kind === 'link') return link(fresh(), pick(['a', '../x', '/etc/passwd', 'ü y', '.']))
  if (kind === 'move' && all.length > 0) {
    const from = pick(all)
    const to = fresh()
    if (!`${to}/`.startsWith(`${from}/`)) return move(from, to)
  }
  if (kind === 'program' && files.length > 0) return program(pick(files))
  if (kind === 'exchange' && all.length > 0) {
    const path = pick(all)
    return both(remove(path), model.get(path)?.type === 'directory' ? write(path, pick(contents)) : makeDirectory(path))
  }
  return write(fresh(), pick(contents))

  function write(path: string, content: string): Change {
    return {
      apply(now) {
        const before = now.get(path)
        now.set(path, { type: 'file', content, isProgram: before?.type === 'file' && before.isProgram })
      },
      command: (root) => `printf %s ${Buffer.from(content).toString('base64')} | base64 -d > ${at(root, path)}`,
      call: (workspace, root) => workspace.write(root + path, content),
    }
  }
  function remove(path: string): Change {
    return {
      apply: (now) => [...now.keys()].forEach((one) => `${one}/`.startsWith(`${path}/`) && now.delete(one)),
      command: (root) => `rm -rf -- ${at(root, path)}`,
      call: (workspace, root) => workspace.delete(root + path, { recursive: true }),
    }
  }
  function makeDirectory(path: string): Change {
    return {
      apply: (now) => now.set(path, { type: 'directory' }),
      command: (root) => `mkdir -- ${at(root, path)}`,
      call: (workspace, root) => workspace.createDirectory(root + path),
    }
  }
  function link(path: string, target: string): Change {
    return {
      apply: (now) => now.set(path, { type: 'symlink', target }),
      command: (root) => `ln -s -- ${quoteForShell(target)} ${at(root, path)}`,
      call: (workspace, root) => workspace.createSymlink(root + path, target),
    }
  }
  function move(from: string, to: string): Change {
    return {
      apply(now) {
        for (const [path, node] of [...now]) {
          if (!`${path}/`.startsWith(`${from}/`)) continue
          now.delete(path)
          now.set(to + path.slice(from.length), node)
        }
      },
      command: (root) => `mv -T -- ${at(root, from)} ${at(root, to)}`,
      call: (workspace, root) => workspace.move(root + from, root + to),
    }
  }
  function program(path: string): Change {
    return {
      apply(now) {
        const before = now.get(path)
        if (before?.type === 'file') now.set(path, { ...before, isProgram: true })
      },
      command: (root) => `chmod 755 -- ${at(root, path)}`,
      call: (workspace, root) => workspace.chmod(root + path, 0o755),
    }
  }
}

function both(first: Change, second: Change): Change {
  return {
    apply(model) {
      first.apply(model)
      second.apply(model)
    },
    command: (root) => `${first.command(root)}; ${second.command(root)}`,
    async call(workspace, root) {
      await first.call(workspace, root)
      await second.call(workspace, root)
    },
  }
}

/** A tree as lines, to compare. */
export function linesOf(model: Model): string[] {
  const line = ([path, node]: [string, Node]) => JSON.stringify([path, node])
  return [...model].map(line).toSorted()
}

export async function modelOfWorkspace(workspace: Workspace, root: string): Promise<Model> {
  const model: Model = new Map()
  for await (const { path, type, mode = 0 } of workspace.list(root, { recursive: true, details: true })) {
    const name = path.slice(root.length)
    if (type === 'directory') model.set(name, { type })
    else if (type === 'symlink') model.set(name, { type, target: await workspace.readSymlink(path) })
    else if (type === 'file') {
      model.set(name, { type, content: await workspace.readText(path), isProgram: (mode & 0o100) !== 0 })
    }
  }
  return model
}

/** The machine's directory, read by the test itself. */
export async function modelOfDirectory(root: string): Promise<Model> {
  const model: Model = new Map()
  async function walk(below: string): Promise<void> {
    for (const name of await readdir(root + below)) {
      const path = paths.child((below === '' ? '/' : below) as VirtualPath, name)
      const at = join(root, path)
      const stat = await lstat(at)
      if (stat.isSymbolicLink()) model.set(path, { type: 'symlink', target: await readlink(at) })
      else if (stat.isDirectory()) {
        model.set(path, { type: 'directory' })
        await walk(path)
      } else {
        model.set(path, { type: 'file', content: await readFile(at, 'utf8'), isProgram: (stat.mode & 0o100) !== 0 })
      }
    }
  }
  await walk('')
  return model
}
