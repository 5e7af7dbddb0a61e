import { paths, quotePath, type VirtualPath } from '@ws/core'
import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { from, to } from './fields.ts'
import { operation } from './operation.ts'

const input = z.strictObject({ from, to })
const shared = { input, readOnly: false, destructive: false, idempotent: false } as const

export const copy = operation({
  ...shared,
  name: 'copy',
  description: 'Copies a file, or a directory with everything below it. Nothing may be at `to` yet.',
  example: { from: '/src/app.ts', to: '/src/app-2.ts' },
  handle: (call, given) => transfer(call, 'copy', given),
})

export const move = operation({
  ...shared,
  name: 'move',
  description: 'Moves a file or directory. Nothing may be at `to` yet; its missing parents are made.',
  example: { from: '/src/app.ts', to: '/lib/app.ts' },
  destructive: true,
  handle: (call, given) => transfer(call, 'move', given),
})

export const rename = operation({
  ...shared,
  name: 'rename',
  description:
    'Gives a file or directory another name. `to` is a name in the same directory, or a path. Nothing may be there yet.',
  example: { from: '/src/app.ts', to: 'main.ts' },
  destructive: true,
  handle: (call, given) => {
    const isName = !given.to.includes('/') && given.to !== '.' && given.to !== '..'
    const slash = given.from.replace(/(?<!\/)\/+$/u, '').lastIndexOf('/')
    const beside = isName && slash >= 0 ? `${given.from.slice(0, slash)}/${given.to}` : given.to
    return transfer(call, 'rename', { from: given.from, to: beside })
  },
})

async function transfer(
  call: Call,
  name: 'copy' | 'move' | 'rename',
  given: { readonly from: string; readonly to: string },
): Promise<Outcome> {
  const source = await call.resolve(name, given.from)
  const destination = await call.resolve(name, given.to)
  refuseRoot(call, source, name)
  refuseRoot(call, destination, name)
  return call.alone([source, destination], async () => {
    const { workspace, signal } = call
    const before = await workspace.stat(source, { signal })
    const there = await call.statBehindLinks(destination)
    if (there !== undefined) throw isThere(name, source, destination, there.type === 'directory')
    const { version } =
      name === 'copy'
        ? await workspace.copy(source, destination, { signal })
        : await workspace.move(source, destination, { signal })
    const change = name === 'copy' ? 'copied' : 'moved'
    const after = version ?? (await workspace.stat(destination, { signal })).version
    if (before.type === 'file' && call.session.seen(source) === before.version) call.session.see(destination, after)
    call.record({ change, path: destination, from: source, ...(name !== 'copy' && { before: before.version }), after })
    const done = { copy: 'Copied', move: 'Moved', rename: 'Renamed' }[name]
    return {
      text: `${done} ${quotePath(source)} to ${quotePath(destination)}.`,
      data: { from: source, to: destination, version: after },
    }
  })
}

export function refuseRoot(call: Call, path: VirtualPath, name: string): void {
  const { path: parsed } = paths.parse(path)
  if (parsed !== call.workspace.root && parsed !== '/') return
  throw new ToolProblem({
    sentence: `${quotePath(parsed)} is the root, which \`${name}\` never touches`,
    remedy: 'nothing was changed; name an entry below it',
    next: { operation: 'list', arguments: { path: '.', depth: 1 } },
    data: { code: 'EBUSY', path: parsed },
  })
}

function isThere(name: string, source: VirtualPath, destination: VirtualPath, isDirectory: boolean): ToolProblem {
  const own = source.replace(/\/$/u, '').split('/').at(-1) ?? ''
  return new ToolProblem({
    sentence: `${quotePath(destination)} exists already, and \`${name}\` never overwrites`,
    remedy: isDirectory
      ? `nothing was changed; look at the directory, and give a path in it, such as ${quotePath(`${destination.replace(/\/$/u, '')}/${own}`)}`
      : 'nothing was changed; look at it, or choose another path',
    next: isDirectory
      ? { operation: 'list', arguments: { path: destination, depth: 1 } }
      : { operation: 'inspect', arguments: { path: destination } },
    isSeen: true,
    data: { code: 'EEXIST', path: destination },
  })
}
