import { flatten, shown, decodeText, type Node, type Nodes, type Tree } from './tree.ts'

export interface TreeChange {
  readonly path: string
  readonly change: 'added' | 'removed' | 'changed'
  /** A directory is shown without its entries. */
  readonly before?: Tree[string]
  readonly after?: Tree[string]
}

/**
 * The differences between two trees by path. Permission bits and times are compared if both trees have them.
 * A directory is compared only if it is empty, or if its path is a file in the other tree.
 */
export function diffTrees(before: Tree, after: Tree): TreeChange[] {
  return diffNodes(flatten(before, 'diffTrees'), flatten(after, 'diffTrees')).map(({ path, change, old, now }) => ({
    path,
    change,
    ...(old !== undefined && { before: shown(old) }),
    ...(now !== undefined && { after: shown(now) }),
  }))
}

export interface NodeChange {
  readonly path: string
  readonly change: TreeChange['change']
  readonly old: Node | undefined
  readonly now: Node | undefined
}

export function diffNodes(before: Nodes, after: Nodes): NodeChange[] {
  const full = new Set([...parentsIn(before), ...parentsIn(after)])
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return paths.flatMap((path): NodeChange[] => {
    const [old, now] = [before.get(path), after.get(path)]
    if (old !== undefined && now !== undefined) {
      return isSame(old, now) ? [] : [{ path, change: 'changed', old, now }]
    }
    if ((old ?? now)?.type === 'directory' && full.has(path)) return []
    return [{ path, change: old === undefined ? 'added' : 'removed', old, now }]
  })
}

function parentsIn(nodes: Nodes): string[] {
  return [...nodes.keys()].map((path) => path.slice(0, path.lastIndexOf('/')))
}

function isSame(old: Node, now: Node): boolean {
  if (old.type === 'symlink') return now.type === 'symlink' && old.target === now.target
  if (old.type === 'directory') return now.type === 'directory'
  if (now.type !== 'file' || Buffer.compare(old.content, now.content) !== 0) return false
  return agree(old.mode, now.mode) && agree(old.modifiedAt, now.modifiedAt)
}

const agree = (old: number | undefined, now: number | undefined): boolean =>
  old === undefined || now === undefined || old === now

const mostLines = 20

export function explainChanges(changes: readonly NodeChange[]): string {
  const lines = changes.slice(0, mostLines).map(({ path, old, now }) => {
    if (now === undefined) return `  - ${quote(path)} is missing`
    if (old === undefined) return `  + ${quote(path)} is there, and was not expected`
    return `  ~ ${quote(path)} ${explainDifference(old, now, '    ')}`
  })
  if (changes.length > mostLines) lines.push(`  … and ${changes.length - mostLines} more`)
  return lines.join('\n')
}

/** The first difference, as a part of a sentence that is printed after the path. */
export function explainDifference(expected: Node, received: Node, indent = '  '): string {
  const both = (one: string, other: string): string => `\n${indent}  expected: ${one}\n${indent}  received: ${other}`
  if (expected.type !== received.type) return `is a ${received.type}, expected a ${expected.type}`
  if (expected.type === 'symlink' && received.type === 'symlink') {
    return `leads elsewhere:${both(quote(expected.target), quote(received.target))}`
  }
  if (expected.type !== 'file' || received.type !== 'file') return 'differs'
  if (Buffer.compare(expected.content, received.content) === 0) {
    return `has the same content, and differs in its details:${both(detailsOf(expected), detailsOf(received))}`
  }
  const [wanted, got] = [decodeText(expected.content), decodeText(received.content)]
  if (wanted === undefined || got === undefined) {
    const at = received.content.findIndex((byte, index) => byte !== expected.content[index])
    const from = at === -1 ? received.content.length : at
    return `differs from byte ${from} on:${both(`${expected.content.length} bytes`, `${received.content.length} bytes`)}`
  }
  const [left, right] = [wanted.split('\n'), got.split('\n')]
  const differs = (index: number): boolean => left[index] !== right[index]
  const line = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => index).find(differs) ?? 0
  return `differs from line ${line + 1} on:${both(lineOf(left, line), lineOf(right, line))}`
}

function detailsOf({ mode, modifiedAt }: Extract<Node, { type: 'file' }>): string {
  const bits = mode === undefined ? [] : [`mode 0o${mode.toString(8)}`]
  return [...bits, ...(modifiedAt === undefined ? [] : [`modifiedAt ${modifiedAt}`])].join(', ')
}

function lineOf(lines: readonly string[], index: number): string {
  const line = lines[index]
  if (line === undefined) return 'the end of the file'
  return line === '' && index === lines.length - 1 ? 'the end of the file, after a line break' : quote(line)
}

const longest = 160

export function quote(text: string): string {
  return JSON.stringify(text.length > longest ? `${text.slice(0, longest)}…` : text)
}
