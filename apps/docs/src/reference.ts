import { join } from 'node:path'

import { Application, type TypeDocOptions } from 'typedoc'

import { packages } from './packages.ts'
import { repositoryRoot } from './pages.ts'

/** Sources of public entry points: those of published packages that are not internal. */
function publicDoors(): string[] {
  return packages.flatMap(({ folder, keywords = [], exports = {}, private: isPrivate = false }) => {
    if (isPrivate || keywords.includes('internal')) return []
    return Object.values(exports).flatMap((door) => {
      const source = typeof door === 'string' ? undefined : door['@ws/source']
      return source === undefined ? [] : [join(repositoryRoot, folder, source)]
    })
  })
}

/** @throws Error for an entry point that TypeDoc cannot read */
export async function buildReference(directory: string): Promise<void> {
  const options: TypeDocOptions = {
    name: '@ws',
    entryPoints: publicDoors(),
    tsconfig: join(repositoryRoot, 'tsconfig.json'),
    skipErrorChecking: true, // the repository's newer compiler has already checked the sources
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
