import type { HostName } from './calls.ts'

export function under(base: HostName, name: HostName): HostName {
  if (typeof base === 'string' && typeof name === 'string') return `${base}/${name}`
  return Buffer.concat([base, '/', name].map((part) => Buffer.from(part)))
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes valid UTF-8; `undefined` for other bytes. */
export function decodeName(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Shows bytes that are not UTF-8: printable ASCII is kept, other bytes become `\xNN`. */
export function showBytes(bytes: Uint8Array): string {
  let shown = ''
  for (const byte of bytes) {
    const printable = byte >= 0x20 && byte < 0x7f && byte !== 0x5c
    shown += printable ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
  }
  return shown
}

/** The replacement character, which stands for invalid bytes but can also be part of a valid name. */
export const replacement = '\uFFFD'
