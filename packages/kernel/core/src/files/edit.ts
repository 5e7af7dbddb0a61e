import { orAbort } from '../adapter/base/wait.ts'
import { checkReadSize, contractError } from '../adapter/failures.ts'
import type { ReadResult, Version, WriteResult } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { ParsedPath, VirtualPath } from '../path/virtual-path.ts'
import { perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { Trace } from '../mount/walk.ts'
import { invalidOption } from '../options/check.ts'
import { requireFile } from './reading.ts'
import type { EditFunction, EditOptions, EditResult, TextEdit } from '../contract/file-door.ts'
import { compileEdits, isSame, tooLargeError } from './splice.ts'
import type { Spliced } from './splice.ts'

const operation = 'edit'
/** Maximum bytes of an edited file, before and after the edit. */
const mostBytes = 256 * 1024 * 1024
/** Longest pause after a conflict, in milliseconds. */
const longestPauseMs = 100

type Change = (read: ReadResult, path: VirtualPath) => Promise<Spliced>

interface LocatedRead extends ReadResult {
  readonly at: VirtualPath
}

export async function edit(
  context: Context,
  path: string,
  edits: TextEdit | readonly TextEdit[] | EditFunction,
  options: EditOptions = {},
): Promise<EditResult> {
  checkMethod('edit', operation, options)
  const { signal, ifVersion, timeout = 5000 } = options
  const change = typeof edits === 'function' ? ofFunction(edits) : ofText(edits, signal)
  return perform(context, { operation, path, signal }, async (parsed, trace) => {
    let end = Number.POSITIVE_INFINITY
    for (let attempts = 1; ; attempts += 1) {
      const read = await readToEdit(context, parsed, ifVersion, trace, signal)
      const { content, isChanged, replacements } = await change(read, read.at)
      signal?.throwIfAborted()
      const { version, size } = read.stat
      if (!isChanged) return { version, size, replacements, attempts }
      try {
        const written = await replace(context, read.at, content, version, trace, signal)
        return { ...written, replacements, attempts }
      } catch (error) {
        if (ifVersion !== undefined || !isWorkspaceError(error, 'ECONFLICT')) throw error
        const now = performance.now()
        end = Math.min(end, now + timeout)
        if (now >= end) throw error
        await pause(Math.min(longestPauseMs, 2 ** attempts, end - now), signal)
      }
    }
  })
}

function readToEdit(
  context: Context,
  parsed: ParsedPath,
  ifVersion: Version | undefined,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<LocatedRead> {
  return context.walker.run(
    { operation: 'read', need: 'read', followLast: true, signal, trace },
    parsed.path,
    async (located, given) => {
      const { virtual, path } = located
      const adapter = await requireFile(operation, parsed, located, given)
      const writable = await context.walker.locate({ operation: 'write', need: 'write', followLast: true }, virtual, {
        links: 0,
      })
      // The path is a link in a read-only part, and its target is writable.
      if (writable.virtual !== virtual)
        return readToEdit(context, { ...parsed, path: writable.virtual }, ifVersion, trace, signal)
      if (adapter.capabilities.conditionalWrite === 'none') throw contractError('noCondition', operation, path)
      const { bytes, stat } = await adapter.read(path, { ifVersion, maxBytes: mostBytes, signal })
      checkReadSize('read', path, bytes.length, mostBytes) // some adapters ignore `maxBytes`
      return { bytes, stat, at: virtual }
    },
  )
}

/** Writes to the path that was read, because a version is valid for one path only. */
function replace(
  context: Context,
  at: VirtualPath,
  content: Uint8Array,
  ifVersion: Version,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<WriteResult> {
  const size = content.length
  return context.walker.run(
    { operation: 'write', need: 'write', followLast: true, size, signal, trace },
    at,
    async ({ path }, adapter) => {
      if (adapter === undefined) throw contractError('ENOENT', operation, path)
      return adapter.write(path, content, { ifVersion, signal }) // @defence `ifVersion, ` an edit that undoes a change which came between: in memory
    },
  )
}

function ofText(edits: TextEdit | readonly TextEdit[], signal: AbortSignal | undefined): Change {
  const apply = compileEdits(edits)
  return ({ bytes }, path) => apply(bytes, path, mostBytes, signal)
}

function ofFunction(make: EditFunction): Change {
  return async ({ bytes, stat }, path) => {
    // Passes a copy: the function may change its argument in place, and the old bytes are still needed.
    const content: unknown = await make(bytes.slice(), stat)
    if (!(content instanceof Uint8Array))
      throw invalidOption(operation, 'edits', 'a function that gives a `Uint8Array`', content)
    if (content.length > mostBytes) throw tooLargeError(path, content.length, mostBytes)
    const isChanged = !isSame(content, bytes)
    return { content, isChanged, replacements: isChanged ? 1 : 0 }
  }
}

/** Waits a random time, so that two writers do not conflict again. */
function pause(most: number, signal: AbortSignal | undefined): Promise<void> {
  const waited = new Promise<void>((resolve) => setTimeout(resolve, Math.random() * most))
  return signal === undefined ? waited : orAbort(waited, signal)
}
