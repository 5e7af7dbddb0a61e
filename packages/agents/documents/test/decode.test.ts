import { isWorkspaceError } from '@ws/core'
import { decodeText } from '@ws/documents'
import { describe, expect, it } from 'vitest'

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

describe('decodeText', () => {
  it('takes valid UTF-8 for UTF-8', () => {
    expect(decodeText(Buffer.from('grün\n'))).toEqual({
      text: 'grün\n',
      encoding: 'utf-8',
      detection: 'utf-8',
      bom: false,
      lineEnding: 'lf',
      finalNewline: true,
    })
    expect(decodeText(new Uint8Array())).toMatchObject({
      text: '',
      encoding: 'utf-8',
      lineEnding: 'none',
      finalNewline: false,
    })
  })

  it.each([
    ['utf-8', Buffer.from('\uFEFFgrün')],
    ['utf-16le', Buffer.from('\uFEFFgrün', 'utf16le')],
    ['utf-16be', utf16be('\uFEFFgrün')],
  ])('goes by the byte order mark of %s, and leaves it out of the text', (encoding, bytes) => {
    expect(decodeText(bytes)).toMatchObject({ text: 'grün', encoding, detection: 'bom', bom: true })
  })

  it('names its guess for other bytes', () => {
    const sentence = 'Съешь же ещё этих мягких французских булок, да выпей чаю. '.repeat(4)
    const cyrillic = Uint8Array.from(sentence, (character) => {
      const code = character.codePointAt(0) ?? 0
      return character === 'ё' ? 0xb8 : code >= 0x410 ? code - 0x350 : code
    })
    expect(decodeText(cyrillic)).toMatchObject({ text: sentence, encoding: 'windows-1251', detection: 'guess' })
    const western = Buffer.from('Der Fluß ist groß und schön, die Bäume sind grün.', 'latin1')
    expect(decodeText(western)).toMatchObject({
      text: western.toString('latin1'),
      encoding: 'windows-1252',
      detection: 'guess',
    })
  })

  it('guesses from the place of the first byte that is not ASCII', () => {
    const bytes = Buffer.from(`${'a'.repeat(100_000)} trés café à Genève`, 'latin1')
    expect(decodeText(bytes)).toMatchObject({ text: bytes.toString('latin1'), detection: 'guess' })
  })

  it('finds an encoding for any bytes', () => {
    for (let seed = 0; seed < 200; seed++) {
      const bytes = Uint8Array.from({ length: 50 }, (_, index) => (seed * 131 + index * index * 37 + 128) % 256)
      expect(decodeText(bytes.subarray(seed % 3)).text.length).toBeGreaterThan(0)
    }
  })

  it('goes by the encoding that is given', () => {
    expect(decodeText(Uint8Array.from([0x80]), { encoding: 'cp1252' })).toMatchObject({
      text: '€',
      encoding: 'windows-1252',
      detection: 'given',
    })
    expect(decodeText(Buffer.from('\uFEFFa', 'utf16le'), { encoding: 'utf-16le' })).toMatchObject({
      text: 'a',
      bom: true,
    })
  })

  it.each([
    [
      'an unknown encoding',
      Buffer.from('a'),
      'klingon',
      'EINVAL: decodeText: `encoding` must be an encoding that `TextDecoder` knows, got "klingon"; pass such a name, for example `windows-1252`, or leave `encoding` out',
    ],
    [
      'bytes that are not in the encoding given',
      Uint8Array.from([0xff]),
      'utf-8',
      'EINVAL: decodeText: the text has bytes that are not utf-8; pass the right `encoding`',
    ],
    [
      'a byte order mark that the bytes belie',
      Uint8Array.from([0xef, 0xbb, 0xbf, 0xff]),
      undefined,
      'EINVAL: decodeText: the text has bytes that are not utf-8; pass the right `encoding`',
    ],
    [
      'half a character of UTF-16',
      Uint8Array.from([0xff, 0xfe, 0x61]),
      undefined,
      'EINVAL: decodeText: the text has bytes that are not utf-16le; pass the right `encoding`',
    ],
    [
      'UTF-32',
      Uint8Array.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]),
      undefined,
      'EINVAL: decodeText: the text is UTF-32LE, which is not supported; convert it to UTF-8',
    ],
  ])('refuses %s', (_, bytes, encoding, message) => {
    expect(() => decodeText(bytes, { encoding })).toThrow(message)
  })

  it('refuses what is not bytes', () => {
    try {
      decodeText('text' as unknown as Uint8Array)
      expect.unreachable()
    } catch (error) {
      expect(isWorkspaceError(error, 'EINVAL')).toBe(true)
    }
  })

  it.each([
    ['a', 'none', false],
    ['a\nb', 'lf', false],
    ['a\r\nb\r\n', 'crlf', true],
    ['a\rb\r', 'cr', true],
    ['a\nb\r\n', 'mixed', true],
    ['a\r\nb\n', 'mixed', true],
    ['a\r\r\n', 'mixed', true],
    ['\r\n\r\n', 'crlf', true],
    ['\n\r', 'mixed', true],
  ] as const)('says of %j that its lines end with %s', (text, lineEnding, finalNewline) => {
    expect(decodeText(Buffer.from(text))).toMatchObject({ lineEnding, finalNewline })
  })
})
