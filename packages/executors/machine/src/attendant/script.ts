import { readFileSync } from 'node:fs'

const tree = readFileSync(new URL('tree.pl', import.meta.url), 'utf8')
const keeper = readFileSync(new URL('keeper.pl', import.meta.url), 'utf8')
const lines = readFileSync(new URL('lines.pl', import.meta.url), 'utf8')
const attendant = readFileSync(new URL('attendant.pl', import.meta.url), 'utf8')

/** Returns the command that runs the attendant on a machine with perl. @param isText its stream is lines of base64 */
export function attendantArguments(isText = false): string[] {
  return ['perl', '-e', tree + keeper + lines + attendant, '--', ...(isText ? ['base64'] : [])]
}
