import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import type { Owner, StorageAdapter } from '@ws/core/adapter'
import { createSampleProject } from '@ws/test-fixtures/sample-project'

import type { ScratchStore } from '../storage/scratch.ts'
import { createScratch } from '../verify/scratch.ts'
import { upload } from './upload.ts'

/** Where the read-only skills are mounted, below the workspace's root. */
export const skillsPath = '/.solven/skills/system'

/** A copy of the sample project and of the skills, in a directory of this machine or in a store. */
export interface DemoProject extends AsyncDisposable {
  /** An adapter on the project, which the caller closes. */
  openProject(): Promise<StorageAdapter>
  openSkills(): Promise<StorageAdapter>
}

export async function createProject(owner: Owner, store?: ScratchStore): Promise<DemoProject> {
  await using cleanup = new AsyncDisposableStack()
  const scratch = cleanup.use(await createScratch(owner))
  const at = (path: string): string => join(scratch.directory, path)
  const files = {
    'outside/secret.txt': 'outside',
    'skills/SKILL.md': '# A skill\n',
    'skills/scripts/run.py': 'print("skill")\n',
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), content)
  }
  await mkdir(at('project'))
  await createSampleProject({ directory: at('project'), outside: at('outside/secret.txt'), owner })
  await scratch.give(scratch.directory)
  const open = async (path: string): Promise<StorageAdapter> =>
    store === undefined ? createLocalAdapter({ root: at(path), owner }) : store.open(`/${path}`)
  if (store !== undefined) {
    for (const path of ['project', 'skills']) {
      const adapter = await open(path)
      try {
        await upload(at(path), adapter)
      } finally {
        await adapter.close()
      }
    }
  }
  const kept = cleanup.move()
  return {
    openProject: () => open('project'),
    openSkills: () => open('skills'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
