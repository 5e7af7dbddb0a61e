import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { packageFolders } from '@ws/test-fixtures/report'

import { repositoryRoot } from './run.ts'

export const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')

export const find = (...patterns: string[]): string[] => globSync(patterns, { cwd: repositoryRoot }).toSorted()

/** The READMEs of the packages that are published. */
export const published: readonly string[] = find(`${packageFolders}/package.json`)
  .filter((path) => !/"private": true/u.test(read(path)))
  .map((path) => path.replace('package.json', 'README.md'))

/** The page of a package: its README, which npm shows, and the page of `docs` that the README's last line names. */
export interface Page {
  readonly text: string
  /** `docs/stores/s3.md:12`, for a line of `text`. */
  placeOf(line: number): string
}

export function readPage(path: string): Page {
  const start = read(path)
  const [, details] = /^Options, promises and limits: `(.+)` in the repository\.\n$/mu.exec(start) ?? []
  const lines = start.split('\n').length - 1
  return {
    text: details === undefined ? start : start + read(details),
    placeOf: (line) => (details === undefined || line <= lines ? `${path}:${line}` : `${details}:${line - lines}`),
  }
}
