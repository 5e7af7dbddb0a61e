import { hostLists } from '@ws/core/executor'

const headerBytes = 12
const internet = 1
const addressRecord = 1
const codes = { ok: 0, malformed: 1, noName: 3, notImplemented: 4 } as const
/** Seconds after which programs repeat a query. */
const lifetime = 60
/** Limit of bytes of a query: one name of 255 bytes, and options of EDNS. */
const longestQuery = 512

/**
 * Answers a DNS query without another server. A name gets its stand-in address; other record types get no record. Returns
 * `undefined` for bytes that are not a query.
 */
export function answerQuery(
  query: Uint8Array,
  addressOf: (name: string) => readonly number[] | undefined,
): Uint8Array | undefined {
  const message = Buffer.from(query.buffer, query.byteOffset, query.byteLength)
  if (message.length < headerBytes || message.length > longestQuery) return undefined
  const flags = message.readUInt16BE(2)
  if ((flags & 0x8000) !== 0) return undefined
  if ((flags & 0x7800) !== 0) return reply(message, { code: codes.notImplemented })
  const read = message.readUInt16BE(4) === 1 ? readQuestion(message) : undefined
  if (read === undefined) return reply(message, { code: codes.malformed })
  const { name, type, kind, end } = read
  const asked = message.subarray(headerBytes, end)
  const address = kind === internet && name !== undefined ? addressOf(name) : undefined
  if (address === undefined) return reply(message, { code: codes.noName, asked })
  return reply(message, { code: codes.ok, asked, ...(type === addressRecord && { address }) })
}

interface Reply {
  readonly code: number
  readonly asked?: Uint8Array
  readonly address?: readonly number[]
}

function reply(query: Buffer, { code, asked, address }: Reply): Uint8Array {
  const header = Buffer.alloc(headerBytes)
  query.copy(header, 0, 0, 2)
  const recursion = query.readUInt16BE(2) & 0x0100
  header.writeUInt16BE(0x8480 | recursion | code, 2)
  header.writeUInt16BE(asked === undefined ? 0 : 1, 4)
  header.writeUInt16BE(address === undefined ? 0 : 1, 6)
  // a pointer to the name in the question, then type, class, lifetime, length
  const record =
    address && Buffer.from([0xc0, headerBytes, 0, addressRecord, 0, internet, 0, 0, 0, lifetime, 0, 4, ...address])
  return Buffer.concat([header, asked ?? Buffer.alloc(0), record ?? Buffer.alloc(0)])
}

interface Question {
  /** In lower case, without a final dot; `undefined` for labels that are not the name of a host. */
  readonly name: string | undefined
  readonly type: number
  readonly kind: number
  readonly end: number
}

function readQuestion(message: Buffer): Question | undefined {
  const labels: string[] = []
  let at = headerBytes
  for (;;) {
    const length = message[at]
    if (length === undefined || length > 63 || at - headerBytes > 255) return undefined
    at++
    if (length === 0) break
    labels.push(message.toString('latin1', at, at + length))
    at += length
  }
  if (at + 4 > message.length) return undefined
  const text = hostLists.normalName(labels.join('.'))
  // a label that contains a dot would look like two labels
  const isPlain = labels.every((label) => !label.includes('.')) && hostLists.isName(text)
  return {
    name: isPlain ? text : undefined,
    type: message.readUInt16BE(at),
    kind: message.readUInt16BE(at + 2),
    end: at + 4,
  }
}
