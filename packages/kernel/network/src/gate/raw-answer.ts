import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Answers on a connection that Node's server has released, then ends the connection unless `write` calls `detach`. */
export function respondRaw<Result>(
  request: IncomingMessage,
  socket: Socket,
  write: (response: ServerResponse, detach: () => void) => Result,
): Result | undefined {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket)
  } catch {
    // Node itself is still answering a request with an unknown `Expect`; no honest client requests an upgrade meanwhile
    return void socket.destroy() // @defence an answer of a host that ends this process: a connection that waits for another one
  }
  const end = (): void => {
    response.detachSocket(socket)
    socket.end(() => socket.destroySoon())
  }
  response.once('finish', end)
  return write(response, () => {
    response.off('finish', end)
    response.detachSocket(socket)
  })
}
