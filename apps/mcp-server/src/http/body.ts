import type { IncomingMessage } from 'node:http'

import { checkMessage } from '../messages/check.ts'
import { MessageError } from '../messages/errors.ts'
import { Incoming, tooLarge, type IncomingOptions } from '../messages/incoming.ts'
import { pace } from '../messages/pace.ts'

/** Limit of extra bytes on the connection beside a body's bytes. */
const maxOverhead = 128 * 1024

/** The body as JSON. @throws MessageError 413 for too many bytes or values, 400 for bad JSON, UTF-8 or depth; as `take` */
export async function readJson(request: IncomingMessage, options: IncomingOptions): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > options.most) throw tooLarge(options.most)
  const incoming = new Incoming(options)
  const { socket } = request
  const before = socket.bytesRead
  // Each round takes all new chunks. The connection remains open for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    incoming.add(chunk)
    if (incoming.refusal !== undefined) throw incoming.refusal
    // each chunk is a call of the parser: chunks of one byte take a hundred times as long
    if (socket.bytesRead - before > maxOverhead + 2 * incoming.size) {
      throw new MessageError(400, 'the chunks of the body are too small')
    }
  }
  const message = await incoming.parse()
  await pace.run(() => checkMessage(message))
  return message
}
