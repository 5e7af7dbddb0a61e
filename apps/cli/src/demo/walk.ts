import { createWorkspace, rules, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'

import type { Style } from '../terminal/style.ts'
import { type DemoProject, skillsPath } from './project.ts'
import { files, shell, showSteps, type Step } from './steps.ts'

const script = 'import os\nprint("hello from", os.getcwd(), "-", len(os.listdir("/src")), "sources")\n'

/** The steps of the demo; the same paths at both doors. */
const steps: readonly Step[] = [
  files('write  /hello.py', async (workspace) => `${(await workspace.write('/hello.py', script)).size} bytes`),
  shell('python3 /hello.py'),
  shell('node src/main.js | tee /count.txt'),
  files('read   /count.txt', (workspace) => workspace.readText('/count.txt')),
  shell('git add -A; git commit -qm new; git log --format=%s'),
  files('search TODO in /src', search),
  shell('echo changed > /.solven/skills/system/SKILL.md'),
  files('write  /.solven/skills/system/SKILL.md', (workspace) => write(workspace, `${skillsPath}/SKILL.md`)),
  shell('cat /notes/empty.txt'),
  files('read   /notes/empty.txt', (workspace) => workspace.readText('/notes/empty.txt')),
  shell('cat /link-outside'),
  files('read   /link-outside', (workspace) => workspace.readText('/link-outside')),
]

/** The same for an interpreter, which has no programs of this machine. */
const stepsWithoutPrograms: readonly Step[] = [
  files('write  /hello.txt', async (workspace) => `${(await workspace.write('/hello.txt', 'hello\n')).size} bytes`),
  shell('cat /hello.txt; ls -A /src'),
  shell('cat docs/*.txt | wc -w | tee /count.txt'),
  files('read   /count.txt', (workspace) => workspace.readText('/count.txt')),
  files('write  /count.txt, if it is not there', (workspace) => create(workspace, '/count.txt')),
  files('search TODO in /src', search),
  ...steps.filter(({ shown }) => /solven|notes/u.test(shown)),
]

/** Works on the project through both doors of one workspace at `/`, and says each step with what came of it. */
export async function walk(
  { openProject, openSkills }: DemoProject,
  executor: Executor,
  style: Style,
  say: (line: string) => void,
): Promise<void> {
  await using workspace = await createWorkspace({
    mounts: [
      { at: '/', adapter: openProject },
      { at: skillsPath, adapter: openSkills, access: 'read-only' },
    ],
    rules: [rules.deny('/notes')],
    executors: [executor],
  })
  await showSteps(workspace, executor.kind === 'process' ? steps : stepsWithoutPrograms, style, say)
}

async function search(workspace: Workspace): Promise<string> {
  const [hit] = await Array.fromAsync(workspace.search('TODO', { in: '/src' }))
  return hit === undefined ? 'nothing' : `${hit.path}, line ${hit.line}`
}

async function create(workspace: Workspace, path: string): Promise<string> {
  await workspace.write(path, '', { ifVersion: 'absent' })
  return 'written'
}

async function write(workspace: Workspace, path: string): Promise<string> {
  await workspace.write(path, 'changed')
  return 'written'
}
