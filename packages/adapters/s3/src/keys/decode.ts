import { showBytes } from './names.ts'

export interface DecodedKey {
  /** `undefined` for bytes that are not UTF-8. */
  readonly key: string | undefined
  /** For people, where there is no key. */
  readonly shown: string
}

export function decodeKey(encoded: string): DecodedKey {
  if (!/[%+]/u.test(encoded)) return { key: encoded, shown: encoded }
  const spaced = encoded.replaceAll('+', ' ')
  try {
    const key = decodeURIComponent(spaced)
    return { key, shown: key }
  } catch {
    const bytes = Buffer.from(
      // `key: undefined` says so
      spaced.replaceAll(/%[0-9a-f]{2}/giu, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16))),
      'latin1',
    )
    return { key: undefined, shown: showBytes(bytes) }
  }
}
