import type { IncomingMessage } from 'node:http'

import { checkMessage } from '../messages/check.ts'
import { MessageError } from '../messages/errors.ts'
import { Incoming, tooLarge, type IncomingOptions } from '../messages/incoming.ts'
import { pace } from '../messages/pace.ts'

/** Limit of bytes that the connection receives beyond twice the bytes of the body. */
const maxOverhead = 128 * 1024

/** The body as JSON. @throws MessageError 413 for too many bytes or values, 400 for bad JSON, UTF-8 or depth; errors of `take` */
export async function readJson(request: IncomingMessage, options: IncomingOptions): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > options.most) throw tooLarge(options.most)
  const incoming = new Incoming(options)
  const { socket } = request
  const before = socket.bytesRead
  // Each round reads all new chunks. The connection stays open for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    incoming.add(chunk)
    if (incoming.refusal !== undefined) throw incoming.refusal
    // the parser is called for each chunk: a body in chunks of one byte takes a hundred times as long
    if (socket.bytesRead - before > maxOverhead + 2 * incoming.size) {
      throw new MessageError(400, 'the chunks of the body are too small')
    }
  }
  const message = await incoming.parse()
  await pace.run(() => checkMessage(message))
  return message
}
