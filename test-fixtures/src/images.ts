import { crc32, deflateSync } from 'node:zlib'

const chunk = (name: string, content: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(name), content])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** A grey PNG that decoders accept. `claimed`: the pixels that its header names in place of its own. */
export function png(width = 8, height = 4, claimed: readonly [number, number] = [width, height]): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0])
  header.writeUInt32BE(claimed[0], 0)
  header.writeUInt32BE(claimed[1], 4)
  const rows = deflateSync(Buffer.alloc((width + 1) * height))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

/** A GIF of 1 by 1 pixels. `width` and `height` are claimed. */
export function gif(frames = 1, width = 1, height = 1): Buffer {
  const header = Buffer.from('474946383961010001008000000000ffffff'.padEnd(38, '0'), 'hex')
  header.writeUInt16LE(width, 6)
  header.writeUInt16LE(height, 8)
  const frame = Buffer.from('2c000000000100010000020244010000', 'hex').subarray(0, 15)
  return Buffer.concat([header, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])])
}

/** A red JPEG of 8 by 4 pixels. `before`: bytes of metadata in front of its frame header. */
export function jpeg(before = 0): Buffer {
  const rest = Buffer.from(redJpeg, 'base64')
  const segments: Buffer[] = []
  for (let left = before; left > 0; left -= 60_000) {
    const content = Buffer.alloc(Math.min(left, 60_000))
    segments.push(Buffer.from([0xff, 0xe1, (content.length + 2) >> 8, (content.length + 2) & 0xff]), content)
  }
  return Buffer.concat([rest.subarray(0, 2), ...segments, rest.subarray(2)])
}

/** A WebP of 8 by 4 pixels: lossy, lossless, or with transparency. */
export const webp = (kind: keyof typeof webps = 'lossy'): Buffer => Buffer.from(webps[kind], 'base64')

const webps = {
  lossy: 'UklGRjIAAABXRUJQVlA4ICYAAABwAQCdASoIAAQAB0CWJaACdAFAAAD+5AFjCaSdH8zfhR8nUAAAAA==',
  lossless: 'UklGRh4AAABXRUJQVlA4TBEAAAAvB8AAAAdQjyLXo/+BiOh/AAA=',
  transparent:
    'UklGRlYAAABXRUJQVlA4WAoAAAAQAAAABwAAAwAAQUxQSAoAAAABB1DAiAhERP8DVlA4ICYAAABwAQCdASoIAAQAB0CWJaACdAFAAAD+5AFjCaSdH8zfhR8nUAAAAA==',
}

const redJpeg =
  '/9j/2wBDABsbGxscGx4hIR4qLSgtKj04MzM4PV1CR0JHQl2NWGdYWGdYjX2Xe3N7l33gsJycsOD/2c7Z////////////////2wBDARsbGxscGx4hIR4qLSgtKj04' +
  'MzM4PV1CR0JHQl2NWGdYWGdYjX2Xe3N7l33gsJycsOD/2c7Z////////////////wgARCAAEAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAV' +
  'AQEBAAAAAAAAAAAAAAAAAAAEBf/aAAwDAQACEAMQAAAAhBrP/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPwB//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP' +
  '/aAAgBAgEBPwB//8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAgBAwEBPwB//9k='
