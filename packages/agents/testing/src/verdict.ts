import { isDenial, isWorkspaceError, type CommandResult, paths } from '@ws/core'
import { fileOperations, type MountPath } from '@ws/core/adapter'
import { checkOption, checkOptions, option, type OptionShapes } from '@ws/core/options'

import { diffNodes, explainChanges, explainDifference, quote } from './diff.ts'
import { readNodes, type TreeOptions, type TreeSource } from './read.ts'
import { bytesOf, flatten, nest, shown, decodeText, type Node, type Nodes, type Tree } from './tree.ts'

export interface Verdict {
  readonly pass: boolean
  readonly message: () => string
  readonly actual?: unknown
  readonly expected?: unknown
}

/** The whole content of a file, or a pattern for its text. */
export type FileContent = string | Uint8Array | RegExp

const content = option.of(
  'a string, a Uint8Array or a RegExp',
  (value) => typeof value === 'string' || value instanceof Uint8Array || value instanceof RegExp,
)

export async function judgeFile(source: TreeSource, given: string, expected?: FileContent): Promise<Verdict> {
  const path = paths.parseMount(given, 'toHaveFile')
  if (expected !== undefined) checkOption('toHaveFile', 'content', expected, content)
  const found = await fileAt(source, path)
  if (typeof found === 'string') return { pass: false, message: () => `${quote(path)} ${found}` }
  const there = `${quote(path)} is there, and should not be`
  if (expected === undefined) return { pass: true, message: () => there }
  const received: Node = { type: 'file', content: found }
  const actual = shown(received)
  const pass = `${quote(path)} has this content, and should not have it`
  if (expected instanceof RegExp) {
    const text = decodeText(found)
    if (text !== undefined && new RegExp(expected).test(text)) return { pass: true, message: () => pass }
    const message = `${quote(path)} does not match ${String(expected)}\n    received: ${quote(text ?? `${found.length} bytes`)}`
    return { pass: false, message: () => message, actual, expected }
  }
  const wanted: Node = { type: 'file', content: bytesOf(expected) }
  if (Buffer.compare(found, wanted.content) === 0) return { pass: true, message: () => pass }
  const message = `${quote(path)} ${explainDifference(wanted, received)}`
  return { pass: false, message: () => message, actual, expected: shown(wanted) }
}

async function fileAt(source: TreeSource, path: MountPath): Promise<Uint8Array | string> {
  try {
    return (await source.read(path)).bytes
  } catch (error) {
    if (isWorkspaceError(error, 'EISDIR')) return 'is a directory, expected a file'
    if (!isWorkspaceError(error, 'ENOENT') && !isWorkspaceError(error, 'ENOTDIR')) throw error
    const files = [...(await readNodes(source)).keys()]
    return `is not there; the files are:\n${files.map((one) => `    ${quote(one)}`).join('\n')}`
  }
}

const treeShapes: OptionShapes<Pick<TreeOptions, 'in'>> = { in: option.string }

export async function judgeTree(
  source: TreeSource,
  tree: Tree,
  options: Pick<TreeOptions, 'in'> = {},
): Promise<Verdict> {
  checkOptions<Pick<TreeOptions, 'in'>>(options, treeShapes, { operation: 'toHaveTree' })
  const root = paths.parseMount(options.in ?? '/', 'toHaveTree')
  const expected = flatten(tree, 'toHaveTree')
  const actual = below(await readNodes(source, { root, details: true }), root)
  const changes = diffNodes(expected, actual)
  const place = root === paths.mountRoot ? 'the tree' : `the tree in ${quote(root)}`
  if (changes.length === 0) return { pass: true, message: () => `${place} is the same, and should differ` }
  const message = `${place} differs:\n${explainChanges(changes)}`
  return { pass: false, message: () => message, actual: nest(without(actual)), expected: nest(without(expected)) }
}

function below(nodes: Nodes, root: MountPath): Nodes {
  if (root === paths.mountRoot) return nodes
  return new Map([...nodes].map(([path, node]) => [path.slice(root.length) as MountPath, node]))
}

function without(nodes: Nodes): Nodes {
  return new Map(
    [...nodes].map(([path, node]) => [path, node.type === 'file' ? { type: 'file', content: node.content } : node]),
  )
}

/** The expected denial. Default: any. */
export interface ExpectedDenial {
  /** The deciding rule: `deny(/secrets)`. */
  readonly rule?: string | undefined
  readonly path?: string | undefined
}

/** A call that should be denied: its promise, or a function. */
export type Attempt = PromiseLike<unknown> | (() => PromiseLike<unknown>)

const denialShapes: OptionShapes<ExpectedDenial> = { rule: option.text, path: option.text }

interface Denial {
  readonly rule?: string | undefined
  readonly path?: string | undefined
}

export async function judgeDenial(attempt: Attempt, expected: ExpectedDenial = {}): Promise<Verdict> {
  checkOptions<ExpectedDenial>(expected, denialShapes, { operation: 'toBeDenied' })
  let result: unknown
  try {
    result = await (typeof attempt === 'function' ? attempt() : attempt)
  } catch (error) {
    const known = isWorkspaceError(error)
    // `EBUSY` of a command means that a file keeps changing
    const door = known && fileOperations.some((name) => name === error.operation) ? 'files' : 'exec'
    if (known && isDenial(error, door)) return judge([error], error.message, expected)
    const message = `it failed, and was not denied:\n    ${error instanceof Error ? error.message : String(error)}`
    return { pass: false, message: () => message }
  }
  const hints = hintsOf(result)
  if (hints.length > 0) return judge(hints, `the command failed at ${hints.map(nameOf).join(', ')}`, expected)
  return { pass: false, message: () => `it was not denied, and gave ${summary(result)}` }
}

function judge(denials: readonly Denial[], words: string, { rule, path }: ExpectedDenial): Verdict {
  const fits = (one: Denial): boolean =>
    (rule === undefined || one.rule === rule) && (path === undefined || one.path === path)
  if (denials.some(fits)) return { pass: true, message: () => `it was denied, and should not be:\n    ${words}` }
  const message = `it was denied by another rule or at another path:\n    ${words}`
  return {
    pass: false,
    message: () => message,
    actual: denials.map(({ rule: by, path: at }) => ({ ...(rule && { rule: by }), ...(path && { path: at }) })),
    expected: [{ ...(rule && { rule }), ...(path && { path }) }],
  }
}

const nameOf = ({ rule = 'no rule', path = 'no path' }: Denial): string => `${quote(path)} (${rule})`

function hintsOf(result: unknown): readonly Denial[] {
  if (typeof result !== 'object' || result === null || !('exitCode' in result)) return []
  const { exitCode, hints = [] } = result as Partial<CommandResult>
  return exitCode === 0 ? [] : hints
}

function summary(result: unknown): string {
  if (typeof result === 'string') return quote(result)
  if (typeof result !== 'object' || result === null) return String(result)
  if (!('exitCode' in result)) return 'a result'
  const { exitCode, output = '' } = result as Partial<CommandResult>
  return `exit code ${exitCode}, output ${quote(output)}`
}
