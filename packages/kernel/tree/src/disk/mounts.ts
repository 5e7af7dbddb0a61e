import { readFileSync } from 'node:fs'

/** Returns the mounts at and below a directory, as paths relative to it. */
export function mountsBelow(directory: string): Set<string> {
  const start = directory === '/' ? '' : directory
  const found = new Set<string>()
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const place = line.split(' ')[4]?.replaceAll(/\\(\d{3})/gu, (_, octal: string) => {
      return String.fromCodePoint(Number.parseInt(octal, 8))
    })
    if (place?.startsWith(`${start}/`) === true && place !== '/') found.add(place.slice(start.length))
  }
  return found
}
