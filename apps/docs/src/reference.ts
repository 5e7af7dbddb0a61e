import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { Application, type TypeDocOptions } from 'typedoc'

import { repositoryRoot } from './pages.ts'

interface Manifest {
  readonly private?: boolean
  readonly keywords?: readonly string[]
  readonly exports?: Readonly<Record<string, Readonly<Record<string, string>> | string>>
}

/** The sources of every public door: those of packages that are published and not internal. */
export function publicDoors(): string[] {
  return globSync('{packages/*/*,apps/*}/package.json', { cwd: repositoryRoot }).flatMap((file) => {
    const manifest = JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as Manifest
    if (manifest.private === true || manifest.keywords?.includes('internal') === true) return []
    return Object.values(manifest.exports ?? {}).flatMap((door) => {
      const source = typeof door === 'string' ? undefined : door['@ws/source']
      return source === undefined ? [] : [join(repositoryRoot, dirname(file), source)]
    })
  })
}

/** @throws Error for a door that TypeDoc cannot read. */
export async function buildReference(directory: string): Promise<void> {
  const options: TypeDocOptions = {
    name: '@ws',
    entryPoints: publicDoors(),
    tsconfig: join(repositoryRoot, 'tsconfig.json'),
    skipErrorChecking: true, // the compiler of the repository is newer, and has checked them
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    readme: 'none',
    githubPages: false,
    logLevel: 'Error',
  }
  const application = await Application.bootstrapWithPlugins(options)
  const project = await application.convert()
  if (project === undefined) throw new Error('typedoc: the public doors cannot be read; see the errors above')
  await application.generateDocs(project, directory)
}
