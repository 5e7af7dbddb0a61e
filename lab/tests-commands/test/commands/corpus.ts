import fs from 'node:fs'

import { deep } from '@ws/test-fixtures'

/** One-liners by the heading above them. */
export type Sections = ReadonlyMap<string, readonly string[]>

/**
 * Reads a file of one-liners: one on each line. A line that begins with a tab goes on with the one above it, and a line
 * that begins with `## ` is a heading.
 */
export function readSections(path: string): Sections {
  const sections = new Map<string, string[]>()
  let current: string[] = []
  for (const line of fs.readFileSync(new URL(path, import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('## ')) sections.set(line.slice(3), (current = []))
    else if (line.startsWith('\t')) current.push(`${current.pop()}\n${line.slice(1)}`)
    else if (line !== '') current.push(line)
  }
  return sections
}

/** `npm test` runs every one-liner of the corpus whose number divides by this. */
const step = 12

/** Every one-liner of the corpus, by theme; outside of the deep tier a fixed part of them, unless all are asked for. */
export function readCorpus({ all = deep }: { readonly all?: boolean } = {}): Sections {
  const themes = new Map<string, readonly string[]>()
  let number = 0
  for (const name of fs.readdirSync(new URL('corpus/', import.meta.url)).sort()) {
    for (const [theme, lines] of readSections(`corpus/${name}`))
      themes.set(
        theme,
        lines.filter(() => number++ % step === 0 || all),
      )
  }
  return themes
}
