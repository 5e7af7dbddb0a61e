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

/** An order is one write to an empty pipe, which never waits. */
const longestOrder = 65_536

/** @returns `undefined` for an order that is too long, or that holds a NUL: a spare cannot be given it */
export function encodeOrder({ argv, env, cwd, hasInput, atOnce, covers, top }: WarmOrder): Buffer | undefined {
  const fields: [string, string][] = [
    ...argv.map((argument): [string, string] => ['a', argument]),
    ...Object.entries(env).map(([name, value]): [string, string] => ['e', `${name}=${value}`]),
    ...covers.map((cover): [string, string] => ['c', describeCover(cover)]),
    ['d', cwd],
  ]
  if (top !== undefined) fields.push(['r', top], ...covers.map(({ from = '' }): [string, string] => ['f', from]))
  if (hasInput) fields.push(['i', '1'])
  if (atOnce) fields.push(['g', '1'])
  if (fields.some(([, value]) => value.includes('\0'))) return undefined
  const parts = fields.flatMap(([kind, value]) => [kind, value].flatMap(withLength))
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  if (size + 4 > longestOrder) return undefined
  return Buffer.concat([number(size), ...parts])
}

function describeCover({ at, show, type, source, readOnly }: Cover): string {
  return [source === undefined || show === 'again' ? show : 'self', type, readOnly ? 'ro' : 'rw', at].join(' ')
}

function withLength(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  return [number(bytes.length), bytes]
}

function number(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(value)
  return bytes
}
