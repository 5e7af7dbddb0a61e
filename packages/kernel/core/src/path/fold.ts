// eslint-disable-next-line no-control-regex -- distinguishes ASCII from the rest
const onlyAscii = /^[\u0000-\u007f]*$/

/**
 * A name as a case-insensitive, normalising file system compares it: case folded and in NFC. Upper case first, so that
 * letters whose two cases are not one to one (`ß`, `ſ`, the Kelvin sign) fall together. A part of a name is folded as it
 * is within the name: sigma has another small form at the end of a word.
 */
export function foldName(name: string): string {
  if (onlyAscii.test(name)) return name.toLowerCase()
  return name.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC')
}
