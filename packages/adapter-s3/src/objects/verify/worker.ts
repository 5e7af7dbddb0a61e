import { parentPort } from 'node:worker_threads'
import { EtagDigest } from './etag-digest.ts'
import type { FromThread, ToThread } from './protocol.ts'

/** Where large objects are hashed. */
const digests = new Map<number, EtagDigest>()

parentPort?.on('message', (message: ToThread) => {
  const { stream, kind } = message
  if (kind === 'begin') {
    digests.set(stream, new EtagDigest(message.partBytes))
    return
  }
  const digest = digests.get(stream)
  if (kind === 'piece') {
    const { piece, bytes } = message
    digest?.update(new Uint8Array(piece, 0, bytes))
    answer({ stream, kind: 'taken', piece }, [piece])
    return
  }
  digests.delete(stream)
  if (kind === 'end' && digest !== undefined) answer({ stream, kind: 'digest', digest: digest.digest() })
})

function answer(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
