import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { repositoryRoot } from './pages.ts'

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly keywords?: readonly string[]
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>> | string>>
}

/** Every package of the repository, with its folder. */
export const packages = globSync('{packages/*,packages/*/*,apps/*,lab/*,test-fixtures}/package.json', {
  cwd: repositoryRoot,
}).map((file) => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as Manifest
  return { ...manifest, folder: dirname(file) }
})
