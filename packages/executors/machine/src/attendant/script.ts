import { readFileSync } from 'node:fs'

const tree = readFileSync(new URL('tree.pl', import.meta.url), 'utf8')
const keeper = readFileSync(new URL('keeper.pl', import.meta.url), 'utf8')
const streams = readFileSync(new URL('streams.pl', import.meta.url), 'utf8')
const attendant = readFileSync(new URL('attendant.pl', import.meta.url), 'utf8')

const mounts = readFileSync(new URL('mounts.pl', import.meta.url), 'utf8')

/**
 * Returns the command that runs the attendant on a machine with perl.
 * @param mode `base64`: its stream is lines; `mounts`: it reports changes of the mounts that it sees
 */
export function attendantArguments(...mode: readonly ('base64' | 'mounts')[]): string[] {
  return ['perl', '-e', tree + keeper + streams + mounts + attendant, '--', ...mode]
}
