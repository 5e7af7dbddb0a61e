import { paths } from '@ws/core'

/** Names that adapters use for themselves directly below their roots. A root can be anywhere in a bucket. */
const reserved = /(?:^|\/)\.ws-(?:scratch|probe)-[0-9a-f-]{36}/u

/** Whether a key or path has a reserved name. Reserved names are hidden from listings, and refused. */
export function isReserved(path: string): boolean {
  return path.includes('.ws-') && reserved.test(path)
}

export function endOfReserved(key: string): number {
  const found = reserved.exec(key)
  return found === null ? 0 : found.index + found[0].length
}

export function makeReservedName(purpose: 'scratch' | 'probe'): string {
  return `.ws-${purpose}-${crypto.randomUUID()}`
}

// includes the separators of lines and paragraphs, which some servers cannot route
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
export const controlCharacters = /[\u0001-\u001f\u007f\u2028\u2029]/u

/** Suffix of an object that represents a link, as in rclone. */
export const linkSuffix = '.rclonelink'

/** The link's name, if an object's name has the suffix of links. */
export function linkNameOf(name: string): string | undefined {
  return name.endsWith(linkSuffix) && name.length > linkSuffix.length ? name.slice(0, -linkSuffix.length) : undefined
}

export function isLegalName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.includes('\0')) return false
  return name.length * 3 <= paths.maxNameBytes || Buffer.byteLength(name) <= paths.maxNameBytes
}

/** Shows bytes for people. Bytes that are not UTF-8 become `\xNN`. */
export function showBytes(bytes: Buffer): string {
  let shown = ''
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let start = 0; start < bytes.length; ) {
    let length = Math.min(4, bytes.length - start)
    for (; length > 0; length -= 1) {
      try {
        const text = decoder.decode(bytes.subarray(start, start + length))
        if ([...text].length !== 1) continue
        shown += text
        break
      } catch {
        // this many bytes are not valid UTF-8: try another length
      }
    }
    if (length === 0) shown += `\\x${bytes[start]?.toString(16).toUpperCase().padStart(2, '0')}`
    start += Math.max(1, length)
  }
  return shown
}

/** Orders keys by UTF-8 bytes, as S3 does. JavaScript would put surrogates before U+E000. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    return weight(left) - weight(right)
  }
  return a.length - b.length
}

/** The sorting weight of a UTF-16 unit: surrogates come last. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit
}
