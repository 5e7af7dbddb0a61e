import type { WorkspaceEntry } from '@ws/core'

import type { FileContext } from './add.ts'

export interface TreeFlags {
  readonly depth?: number
}

/** Prints a tree, with lines that connect entries to their directories. */
export async function tree(context: FileContext, path = '', { depth }: TreeFlags = {}): Promise<void> {
  const { workspace, output, signal } = context
  const given = path === '' ? workspace.root : path
  const top = await workspace.realPath(given, { signal })
  const below = new Map<string, WorkspaceEntry[]>()
  const count = { directory: 0, other: 0 }
  for await (const entry of workspace.list(top, { recursive: true, maxDepth: depth, details: true, signal })) {
    const parent = entry.path.slice(0, entry.path.lastIndexOf('/')) || '/'
    const siblings = below.get(parent)
    if (siblings === undefined) below.set(parent, [entry])
    else siblings.push(entry)
    count[entry.type === 'directory' ? 'directory' : 'other'] += 1
  }
  if (!output.json) await output.line(output.name(given))
  await showBelow(context, below, top, '')
  if (output.json) return
  await output.line(
    `\n${counted(count.directory, 'directory', 'directories')}, ${counted(count.other, 'file', 'files')}`,
  )
}

async function showBelow(
  context: FileContext,
  below: ReadonlyMap<string, readonly WorkspaceEntry[]>,
  path: string,
  indent: string,
): Promise<void> {
  const { output, style } = context
  const entries = (below.get(path) ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const [index, entry] of entries.entries()) {
    const isLast = index === entries.length - 1
    if (output.json) await output.value(entry)
    else {
      const name = output.name(entry.name)
      const shown = entry.type === 'directory' ? style.strong(name) : name
      const target = entry.target === undefined ? '' : ` -> ${output.name(entry.target)}`
      await output.line(`${indent}${isLast ? '└── ' : '├── '}${shown}${target}`)
    }
    if (entry.type === 'directory') await showBelow(context, below, entry.path, indent + (isLast ? '    ' : '│   '))
  }
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
