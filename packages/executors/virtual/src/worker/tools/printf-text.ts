import { bytesOf } from '@ws/shell-tools'

const letters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

/** Decodes an escape to bytes. A backslash that begins no escape is a plain character. */
export function escaped(text: string, at: number, inValue: boolean): { readonly end: number; readonly text: string } {
  const rest = text.slice(at + 1, at + 12)
  const [octal] = (inValue ? /^0[0-7]{0,3}|^[1-7][0-7]{0,2}/ : /^[0-7]{1,3}/).exec(rest) ?? []
  if (octal !== undefined)
    return { end: at + 1 + octal.length, text: String.fromCharCode(Number.parseInt(octal, 8) & 255) }
  const [hex, digits = ''] = /^x([0-9a-fA-F]{1,2})/.exec(rest) ?? []
  if (hex !== undefined) return { end: at + 1 + hex.length, text: String.fromCharCode(Number.parseInt(digits, 16)) }
  const [code] = /^u[0-9a-fA-F]{1,4}|^U[0-9a-fA-F]{1,8}/.exec(rest) ?? []
  if (code !== undefined && Number.parseInt(code.slice(1), 16) <= 0x10ffff)
    return { end: at + 1 + code.length, text: bytesOf(String.fromCodePoint(Number.parseInt(code.slice(1), 16))) }
  const [letter = ''] = rest
  if (!inValue && /["'?]/.test(letter)) return { end: at + 2, text: letter }
  return letters[letter] === undefined ? { end: at + 1, text: '\\' } : { end: at + 2, text: letters[letter] ?? '' }
}

export function quoted(text: string): string {
  if (text === '') return "''"
  if (!/[\p{Cc}\p{Cs}]/u.test(text)) return text.replace(/[ !"$&'()*,;<>?[\\\]^`{|}]|^[#~]|(?<=[:=])~/g, '\\$&')
  const bytes = [...text].map((character) => {
    const name = Object.keys(letters).find((letter) => letters[letter] === character && letter !== 'e')
    if (name !== undefined || character === "'") return `\\${name ?? "'"}`
    if (!/[\p{Cc}\p{Cs}]/u.test(character)) return character
    return [...bytesOf(character)].map((byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')
  })
  return `$'${bytes.join('')}'`
}
