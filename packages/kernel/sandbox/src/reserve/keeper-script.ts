import { readFileSync } from 'node:fs'

/** Returns the script, for `perl -e`, of the process that reserves names and watches mounts: see `keeper.pl`. */
export function keeperScript(): string {
  const journal = readFileSync(new URL('journal.pl', import.meta.url), 'utf8')
  const entries = readFileSync(new URL('entries.pl', import.meta.url), 'utf8')
  const places = readFileSync(new URL('places.pl', import.meta.url), 'utf8')
  const cover = readFileSync(new URL('cover.pl', import.meta.url), 'utf8')
  const watch = readFileSync(new URL('watch.pl', import.meta.url), 'utf8')
  const keeper = readFileSync(new URL('keeper.pl', import.meta.url), 'utf8')
  return journal + entries + places + cover + watch + keeper
}
