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
