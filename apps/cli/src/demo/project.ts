import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import type { Owner, StorageAdapter } from '@ws/core/adapter'
import { createSampleProject } from '@ws/test-fixtures/sample-project'

import { createScratch } from '../verify/scratch.ts'

/** The path of the read-only skills in the workspace. */
export const skillsPath = '/.solven/skills/system'

export interface DemoProject extends AsyncDisposable {
  /** The caller closes the adapter. */
  openProject(): Promise<StorageAdapter>
  openSkills(): Promise<StorageAdapter>
  /** A host path for checkpoints, outside of project and skills. */
  readonly stateDirectory: string
}

export async function createProject(owner: Owner): Promise<DemoProject> {
  await using cleanup = new AsyncDisposableStack()
  const scratch = cleanup.use(await createScratch(owner))
  const at = (path: string): string => join(scratch.directory, path)
  for (const directory of ['project', 'outside', 'skills']) await mkdir(at(directory))
  await writeFile(at('outside/secret.txt'), 'outside')
  await writeFile(at('skills/SKILL.md'), '# A skill\n')
  await createSampleProject({ directory: at('project'), outside: at('outside/secret.txt'), owner })
  await scratch.give(scratch.directory)
  const open = (path: string) => createLocalAdapter({ root: at(path), owner })
  const kept = cleanup.move()
  return {
    openProject: () => open('project'),
    openSkills: () => open('skills'),
    stateDirectory: at('state'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
