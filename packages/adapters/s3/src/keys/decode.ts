import { showBytes } from './names.ts'

export interface DecodedKey {
  /** `undefined` if the bytes are not UTF-8. */
  readonly key: string | undefined
  /** A readable form, used if there is no key. */
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
      // `key: undefined` marks an invalid key
      spaced.replaceAll(/%[0-9a-f]{2}/giu, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16))),
      'latin1',
    )
    return { key: undefined, shown: showBytes(bytes) }
  }
}
