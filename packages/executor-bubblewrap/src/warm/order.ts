import type { Cover } from './split.ts'

/** One command, for a spare. */
export interface WarmOrder {
  readonly argv: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Without it, standard input is `/dev/null`. */
  readonly hasInput: boolean
  /** Run at once. Otherwise the spare waits for the word to go, while this process looks at its mounts. */
  readonly atOnce: boolean
  /** In the order of mounting. */
  readonly covers: readonly Cover[]
  /** Where the tree is put together that becomes the root. */
  readonly top?: string | undefined
}

/** Bytes of a command and its environment. */
const longestCommand = 65_536

/** @returns `undefined` for an order that is too long, or that holds a NUL: a spare cannot be given it */
export function encodeOrder({ argv, env, cwd, hasInput, atOnce, covers, top }: WarmOrder): Buffer | undefined {
  const fields = argv.flatMap((argument) => ['a', argument])
  for (const [name, value] of Object.entries(env)) fields.push('e', `${name}=${value}`)
  fields.push('d', cwd)
  if (sizeOf(fields) > longestCommand) return undefined
  for (const cover of covers) fields.push('c', describeCover(cover))
  if (top !== undefined) {
    fields.push('r', top)
    for (const { from = '' } of covers) fields.push('f', from)
  }
  if (hasInput) fields.push('i', '1')
  if (atOnce) fields.push('g', '1')
  if (fields.some((text) => text.includes('\0'))) return undefined
  const order = Buffer.allocUnsafe(4 + sizeOf(fields))
  let at = order.writeUInt32LE(order.length - 4)
  for (const text of fields) {
    const length = order.write(text, at + 4)
    at = order.writeUInt32LE(length, at) + length
  }
  return order
}

/** Each text has its length in front. */
function sizeOf(fields: readonly string[]): number {
  let size = 0
  for (const text of fields) size += 4 + Buffer.byteLength(text)
  return size
}

function describeCover({ at, show, type, source, readOnly }: Cover): string {
  return `${source === undefined || show === 'again' ? show : 'self'} ${type} ${readOnly ? 'ro' : 'rw'} ${at}`
}
