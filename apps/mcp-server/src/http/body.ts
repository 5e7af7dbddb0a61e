import type { IncomingMessage } from 'node:http'

import { MessageError } from '../messages/errors.ts'

/** Levels of arrays and objects in each other: checks of schemas are recursive. */
const maxDepth = 256

export interface BodyOptions {
  /** Bytes of a body at most. */
  readonly most: number
  /** Hears of bytes as they come. Throws where they are too many. */
  readonly take: (bytes: number) => void
}

/**
 * The body as JSON.
 *
 * @throws MessageError 413 for more than `most` bytes, 400 for anything but JSON in UTF-8, and the errors of `take`
 */
export async function readJson(request: IncomingMessage, { most, take }: BodyOptions): Promise<unknown> {
  const tooLarge = new MessageError(413, `a message has at most ${most} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge
  const chunks: Buffer[] = []
  let size = 0
  // the connection is needed for the answer
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) throw tooLarge
    take(chunk.length)
    chunks.push(chunk)
  }
  const value = parse(Buffer.concat(chunks))
  if (isDeeper(value, maxDepth)) throw new MessageError(400, `a message nests at most ${maxDepth} levels`)
  return value
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new MessageError(400, 'the body is not JSON in UTF-8')
  }
}

/** Level by level, since a recursive walk is what deep values break. */
function isDeeper(value: unknown, most: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= most; depth += 1) {
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) next.push(inner)
    }
    if (next.length === 0) return false
    level = next
  }
  return true
}
