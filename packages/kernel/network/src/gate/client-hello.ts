/** The content of the first message of a TLS client. */
export type ClientHello =
  | { readonly name: string }
  | { readonly more: true }
  /** Why the message cannot be judged: a part of a sentence, printed after "the connection". */
  | { readonly problem: string }

/** Limit of bytes of a first message: post-quantum certificates take a few KiB. */
export const longestHello = 64 * 1024

const handshakeRecord = 22
const clientHello = 1
const extensions = { serverName: 0, encryptedHello: 0xfe0d } as const

/** Reads the name that a TLS client requests. A problem is two names, an invalid name, an encrypted hello, or anything ambiguous. */
export function readClientHello(bytes: Uint8Array): ClientHello {
  const message = joinRecords(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  if ('problem' in message || 'more' in message) return message
  try {
    return nameIn(new Reader(message.body))
  } catch (error) {
    if (error instanceof RangeError) return { problem: notTls }
    throw error
  }
}

const notTls = 'does not begin as TLS does'

/** The body of the first handshake message, which may lie in several records. */
function joinRecords(bytes: Buffer): { readonly body: Buffer } | Exclude<ClientHello, { name: string }> {
  const parts: Buffer[] = []
  let held = 0
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== handshakeRecord || (bytes[at + 1] ?? 3) !== 3) return { problem: notTls }
    if (at + 5 > bytes.length) break
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > 16_384) return { problem: notTls }
    const part = bytes.subarray(at + 5, at + 5 + length)
    parts.push(part)
    held += part.length
    const message = Buffer.concat(parts)
    if (held > 0 && message[0] !== clientHello) return { problem: notTls }
    if (held >= 4) {
      const size = message.readUIntBE(1, 3)
      if (size > longestHello) return { problem: notTls }
      if (held >= 4 + size) return { body: message.subarray(4, 4 + size) }
    }
    at += 5 + length
  }
  return bytes.length > longestHello ? { problem: notTls } : { more: true }
}

function nameIn(hello: Reader): ClientHello {
  hello.take(2 + 32) // version, random
  hello.take(hello.number(1)) // session
  hello.take(hello.number(2)) // ciphers
  hello.take(hello.number(1)) // compression
  if (hello.left === 0) return { problem: 'names no host (it has no SNI)' }
  const list = new Reader(hello.take(hello.number(2)))
  if (hello.left > 0) return { problem: notTls }
  let name: string | undefined
  while (list.left > 0) {
    const type = list.number(2)
    const content = new Reader(list.take(list.number(2)))
    if (type === extensions.encryptedHello) return { problem: 'hides its host (encrypted client hello)' } // @defence TLS for another host over a listed address: encrypted hello
    if (type !== extensions.serverName) continue
    if (name !== undefined) return { problem: 'names two hosts' }
    const names = new Reader(content.take(content.number(2)))
    if (content.left > 0 || names.number(1) !== 0) return { problem: notTls }
    name = names.take(names.number(2)).toString('latin1').toLowerCase()
    if (names.left > 0) return { problem: 'names two hosts' }
  }
  return name === undefined || name === '' ? { problem: 'names no host (it has no SNI)' } : { name }
}

/** @throws RangeError beyond the end */
class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  number(size: number): number {
    const value = this.#bytes.readUIntBE(this.#at, size)
    this.#at += size
    return value
  }

  take(length: number): Buffer {
    if (length > this.left) throw new RangeError('behind the end')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
