import { MessageError } from './errors.ts'

/** Limit of characters of names, ids and URIs: answers repeat these texts, and running calls keep them. */
const maxName = 16 * 1024
/** Limit of names in objects that the SDK's schemas check: 100,000 names take half a second. */
const maxKeys = 1_000

/** Refuses oversized parts of a message before the SDK receives the message. @throws MessageError 413 that names the part */
export function checkMessage(message: unknown): void {
  for (const one of Array.isArray(message) ? message : [message]) {
    const { method, id, params, result, error } = fieldsOf(one)
    const { name, uri, requestId, _meta, arguments: given } = fieldsOf(params)
    const { progressToken } = fieldsOf(_meta)
    const names = { method, id, name, uri, requestId, progressToken }
    for (const [field, value] of Object.entries(names)) {
      if (typeof value !== 'string' || value.length <= maxName) continue
      throw new MessageError(413, `\`${field}\` has at most ${maxName} characters`)
    }
    const objects = { message: one, params, arguments: given, _meta, result, error }
    for (const [field, value] of Object.entries(objects)) {
      if (Object.keys(fieldsOf(value)).length <= maxKeys) continue
      throw new MessageError(413, `\`${field}\` has at most ${maxKeys} names`)
    }
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
