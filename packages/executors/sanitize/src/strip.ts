import type { ViewMount } from './paths/path-view.ts'

export interface Stripper {
  /** Returns the bytes to pass on. Keeps back a possible beginning of a host path. */
  push(chunk: Uint8Array): Uint8Array
  /** Returns the bytes that were kept back. */
  end(): Uint8Array
}

const slash = 0x2f

interface Replacement {
  readonly host: Buffer
  readonly at: Buffer
}

/** Replaces host directories of mounts by their workspace paths in a stream. Other bytes do not change. */
export function createStripper(mounts: readonly ViewMount[]): Stripper {
  // The longest path comes first, because one host root can be the prefix of another.
  const replacements = mounts
    .map(({ host, at }): Replacement => ({ host: Buffer.from(host), at: Buffer.from(at) }))
    .toSorted((left, right) => right.host.length - left.host.length)
  const longest = replacements[0]?.host.length ?? 0
  let carry: Buffer = Buffer.alloc(0)

  function run(bytes: Buffer, final: boolean): Buffer {
    const out: Buffer[] = []
    let from = 0
    for (let at = bytes.indexOf(slash); at >= 0; at = bytes.indexOf(slash, at)) {
      const found = matchAt(bytes, at, replacements, final)
      if (found === 'more') {
        carry = Buffer.from(bytes.subarray(at))
        out.push(bytes.subarray(from, at))
        return Buffer.concat(out)
      }
      if (found === undefined) {
        at++
        continue
      }
      out.push(bytes.subarray(from, at))
      const end = at + found.host.length
      // For a mount at `/`, the path below it already begins with the slash.
      const atRoot = found.at.length === 1
      if (!(atRoot && bytes[end] === slash)) out.push(found.at)
      from = end
      at = end
    }
    out.push(bytes.subarray(from))
    carry = Buffer.alloc(0)
    return Buffer.concat(out)
  }

  return {
    push(chunk) {
      if (longest === 0) return chunk
      return run(
        carry.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([carry, chunk]),
        false,
      )
    },
    end: () => run(carry, true),
  }
}

function matchAt(
  bytes: Buffer,
  at: number,
  replacements: readonly Replacement[],
  final: boolean,
): Replacement | 'more' | undefined {
  for (const replacement of replacements) {
    const { host } = replacement
    const length = Math.min(host.length, bytes.length - at)
    if (bytes.compare(host, 0, length, at, at + length) !== 0) continue
    if (length < host.length) {
      if (final) continue
      return 'more'
    }
    const next = bytes[at + host.length]
    if (next === undefined) return final ? replacement : 'more'
    if (!continuesName(next)) return replacement
  }
  return undefined
}

/** Returns true for a letter, digit, `_` or `-`, which continue a name. Other bytes end it: programs put “’” after a name. */
function continuesName(byte: number): boolean {
  const digit = byte >= 0x30 && byte <= 0x39
  const letter = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)
  return digit || letter || byte === 0x5f || byte === 0x2d
}
