import { lstatSync } from 'node:fs'

import type { Lists } from './lists.ts'
import { shared } from './system.ts'

/**
 * The program that the library runs as bubblewrap. It adds arguments from descriptor 10 behind those of the library, and runs bubblewrap.
 */
export const launcher = `#!/bin/sh
for word; do
  shift
  if [ "$word" = -- ] && [ -z "$end" ]; then end=1; set -- "$@" --args 10; fi
  set -- "$@" "$word"
done
exec /usr/bin/bwrap "$@"
`

/**
 * Returns further arguments of bubblewrap. The library covers a directory that may not be read by an empty one in memory, which can be
 * written: such a write would be lost. So each cover becomes read-only. The library's shared directory gets a cover too.
 * Commands cannot list a denied directory of the workspace either. @param outside the part of `denyRead` outside of the workspace
 */
export function coverArguments({ denyRead, reopened }: Lists, outside: readonly string[]): Buffer {
  const covers = denyRead.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
  const [own = ''] = shared
  const words = [
    ...['--tmpfs', own],
    // The library's bind of a read-only mount hides its bind of a writable part.
    ...reopened.flatMap((path) => ['--bind', path, path]),
    ...covers.flatMap((path) => (outside.includes(path) ? [] : ['--chmod', '0000', path])),
    ...[...covers, own].flatMap((path) => ['--remount-ro', path]),
  ]
  return Buffer.from(words.map((word) => `${word}\0`).join(''))
}
