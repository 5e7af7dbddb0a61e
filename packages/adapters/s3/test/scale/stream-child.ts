// Streams a large file up and down in a process of its own, so that its memory can be measured. Reads the connection
// and the size from its standard input, and writes the largest resident memory, in bytes.
import { paths } from '@ws/core'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { text } from 'node:stream/consumers'
import { createS3Adapter, type S3AdapterOptions } from '../../src/index.ts'

const { bytes, ...options } = JSON.parse(await text(process.stdin)) as S3AdapterOptions & { bytes: number }
const adapter = await createS3Adapter(options)
const path = paths.parseMount('/large')

// what the SDK loads and the first requests need is not what a stream costs
await adapter.write(paths.parseMount('/small'), new Uint8Array(100_000))
await adapter.read(paths.parseMount('/small'))
await sleep(200)
const idle = process.memoryUsage.rss()

let peak = 0
const sampler = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 20)

const sent = createHash('sha256')
async function* body(): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(64 * 1024)
  for (let offset = 0; offset < bytes; offset += chunk.length) {
    chunk.writeUInt32LE(offset / chunk.length)
    sent.update(chunk)
    yield chunk
  }
}
await adapter.write(path, body())
const up = peak - idle

globalThis.gc?.()
const between = process.memoryUsage.rss()
peak = 0
const collected = 8 * 1024 * 1024
const received = createHash('sha256')
let size = 0
const { stream } = await adapter.readStream(path)
for await (const chunk of stream) {
  received.update(chunk)
  // V8 lets 64 MiB of buffers pile up before it looks which are still needed: that is its habit, and no stream's need
  if (Math.floor((size + chunk.length) / collected) > Math.floor(size / collected)) globalThis.gc?.()
  size += chunk.length
}
clearInterval(sampler)
await adapter.close()
const same = size === bytes && sent.digest('hex') === received.digest('hex')
process.stdout.write(JSON.stringify({ idle, up, down: peak - Math.max(idle, between), same }))
