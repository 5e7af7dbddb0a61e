import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { CopyOptions, MoveOptions, TransferResult, Version } from '../contract/file-types.ts'
import { isWithin } from '../path/virtual-path.ts'
import type { ParsedPath, VirtualPath } from '../path/virtual-path.ts'
import { admitTree, findMovableLink } from './admit-tree.ts'
import { parseFor, perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { Located } from '../mount/gate.ts'
import { checkMethod } from '../calls/method-options.ts'
import { mountsBelow } from './regions.ts'
import { copyAcross, moveAcross } from './transfer-across.ts'
import { asArgument } from '../mount/links.ts'
import type { LinkBudget } from '../mount/links.ts'
import { notDirectoryError } from '../mount/walk.ts'
import type { Trace } from '../mount/walk.ts'
import { admitParents, refuseDots } from './writing.ts'

type Kind = 'move' | 'copy'

export async function move(
  context: Context,
  source: string,
  destination: string,
  options: MoveOptions = {},
): Promise<TransferResult> {
  checkMethod('move', 'move', options)
  return transfer(context, 'move', source, destination, { ...options, recursive: true })
}

export async function copy(
  context: Context,
  source: string,
  destination: string,
  options: CopyOptions = {},
): Promise<TransferResult> {
  checkMethod('copy', 'copy', options)
  return transfer(context, 'copy', source, destination, { ...options, recursive: options.recursive ?? true })
}

async function transfer(
  context: Context,
  kind: Kind,
  source: string,
  destination: string,
  options: CopyOptions,
): Promise<TransferResult> {
  const { signal } = options
  return perform(context, { operation: kind, path: source, destination, signal }, async (from, trace) => {
    const to = parseFor(context, kind, destination)
    if (kind === 'move') for (const path of [source, destination]) refuseDots(kind, path)
    const budget: LinkBudget = { links: 0 }
    let sourcePath = await context.walker.settle(kind, from.path, budget)
    let destinationPath = await context.walker.settle(kind, to.path, budget)
    for (;;) {
      const pair = await locatePair(context, kind, sourcePath, destinationPath, budget)
      try {
        const ifSource = options.ifSource ?? pair.version
        return await step(context, kind, pair, { from, to }, { ...options, ifSource }, trace)
      } catch (error) {
        if (!(error instanceof LinkSignal)) throw error
        if (error.argument === 'destination') {
          destinationPath = await context.walker.next(kind, pair.destination, error, budget)
        } else sourcePath = await context.walker.next(kind, pair.source, error, budget)
      }
    }
  })
}

export interface Pair {
  readonly source: Located
  readonly destination: Located
  /** The version of the source that was checked before the move. Another version must not be moved. */
  readonly version?: Version | undefined
}

async function locatePair(
  context: Context,
  kind: Kind,
  source: VirtualPath,
  destination: VirtualPath,
  budget: LinkBudget,
): Promise<Pair> {
  const { gate, walker } = context
  const needs = kind === 'move' ? (['read', 'write'] as const) : (['read'] as const)
  const link = kind === 'move' ? await findMovableLink(context, source) : undefined
  let from: Located | undefined = link
  for (const need of link === undefined ? needs : []) {
    from = await walker.locate({ operation: kind, need, followLast: false }, from?.virtual ?? source, budget)
  }
  const to = await walker.locate({ operation: kind, need: 'write', followLast: false }, destination, budget)
  if (from === undefined) throw new TypeError('a transfer needs a right')
  if (kind === 'move') gate.refuseMountPoint(kind, from)
  gate.refuseMountPoint(kind, to)
  if (link === undefined) gate.admitBelow(kind, from.virtual, needs)
  gate.admitBelow(kind, to.virtual, ['write'])
  return { source: from, destination: to, version: link?.version }
}

async function step(
  context: Context,
  kind: Kind,
  pair: Pair,
  { from, to }: { from: ParsedPath; to: ParsedPath },
  options: CopyOptions,
  trace: Trace,
): Promise<TransferResult> {
  const { source, destination } = pair
  const { signal } = options
  trace.landed = source.virtual
  trace.destination = destination.virtual
  const sourceAdapter = source.mount === undefined ? undefined : await context.open(source.mount)
  const destinationAdapter = destination.mount === undefined ? undefined : await context.open(destination.mount)
  if (sourceAdapter === undefined || destinationAdapter === undefined) {
    throw virtualError({
      code: 'EBUSY',
      operation: kind,
      path: source.virtual,
      reason: 'holds a mount point',
      remedy: 'use its entries one by one',
    })
  }
  if (from.directory || to.directory) await requireDirectory(kind, source, sourceAdapter)
  const parents = options.parents ?? true
  if (parents) await fromDestination(pair, () => admitParents(context, kind, destination, destinationAdapter))
  if (source.virtual !== destination.virtual && isWithin(destination.virtual, source.virtual)) {
    await requireExisting(source, sourceAdapter, kind)
    throw virtualError({
      code: 'EINVAL',
      operation: kind,
      path: destination.virtual,
      reason: `lies in \`${source.virtual}\`, which cannot be put into itself`,
      remedy: 'choose a destination outside',
    })
  }
  await adviseTree(context, kind, pair, sourceAdapter, signal)

  const nested = mountsBelow(context, source.virtual).length > 0
  if (source.mount === destination.mount && !nested) {
    try {
      return kind === 'move'
        ? await sourceAdapter.move(source.path, destination.path, { ...options, parents })
        : await sourceAdapter.copy(source.path, destination.path, { ...options, parents })
    } catch (error) {
      if (error instanceof LinkSignal) throw error
      throw translateError(error, { operation: kind, at: source.mount?.at, path: source.virtual, signal })
    }
  }
  const work = { context, pair, sourceAdapter, destinationAdapter, options: { ...options, parents } }
  return kind === 'move' ? moveAcross(work) : copyAcross(work)
}

/** Checks predicate rules for every entry, at its old and new path, before any change. */
async function adviseTree(
  context: Context,
  kind: Kind,
  { source, destination }: Pair,
  adapter: StorageAdapter,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { gate } = context
  if (!gate.judgesEntriesBelow(source.virtual) && !gate.judgesEntriesBelow(destination.virtual)) return
  try {
    const { type, size } = await adapter.stat(source.path, { signal })
    gate.admit(kind, destination.virtual, 'write', type === 'file' ? size : undefined)
    await admitTree(context, kind, source, adapter, kind === 'move' ? ['read', 'write'] : ['read'], signal)
    if (type !== 'directory') return
    for await (const entry of adapter.list(source.path, { recursive: true, details: true, signal })) {
      const below = source.path === '/' ? entry.path : entry.path.slice(source.path.length)
      gate.admit(
        kind,
        (destination.virtual + below) as VirtualPath,
        'write',
        entry.type === 'file' ? entry.size : undefined,
      )
    }
  } catch (error) {
    if (error instanceof LinkSignal) throw asArgument(error, 'source')
    throw translateError(error, { operation: kind, at: source.mount?.at, path: source.virtual, signal })
  }
}

async function requireDirectory(kind: Kind, source: Located, adapter: StorageAdapter): Promise<void> {
  const { type } = await requireExisting(source, adapter, kind)
  if (type !== 'directory') throw notDirectoryError(kind, source.virtual)
}

async function requireExisting(
  source: Located,
  adapter: StorageAdapter,
  kind: Kind,
): ReturnType<StorageAdapter['stat']> {
  try {
    return await adapter.stat(source.path)
  } catch (error) {
    if (error instanceof LinkSignal) throw asArgument(error, 'source')
    throw translateError(error, { operation: kind, at: source.mount?.at, path: source.virtual })
  }
}

async function fromDestination({ destination }: Pair, body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } catch (error) {
    if (error instanceof LinkSignal) throw asArgument(error, 'destination')
    throw translateError(error, { operation: 'move', at: destination.mount?.at, path: destination.virtual })
  }
}
