import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Where the checks keep what they work on, below the workspace's root. */
export const checksDirectory = 'two doors'

export const oddNames = [
  ' spaces ',
  'quote " and \' and `',
  'new\nline',
  '-rf',
  'pipe | and : colon',
  'back\\slash',
  '$(exit 9)',
  'star * [x] ?',
  'größe 日本語 🙂',
  'escape \u001b[31m',
] as const

interface FixtureOptions {
  readonly project: string
  readonly outside: string
  readonly protectedText: string
}

/** The files that the checks expect in the workspace, among any others. */
export async function writeFixtures({ project, outside, protectedText }: FixtureOptions): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    'data.json': '{"key": "value"}',
    '.venv/marker': 'leading dots stay',
    'out/.keep': '',
    'private/key': protectedText,
    'private/deep/key': protectedText,
    'guarded/deep/secret/key': protectedText,
    'guarded/beside': 'free',
    'locked/hook.sh': `#!/bin/sh\n# ${protectedText}\n`,
    'mixed/free': 'free',
    'mixed/kept/key': protectedText,
    'sub/a.txt': 'a',
  }
  for (const [path, content] of Object.entries(files)) {
    const file = join(project, checksDirectory, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
  await writeFile(join(project, 'data.json'), '{"key": "value"}')
  const directory = join(project, checksDirectory)
  await chmod(join(directory, 'locked/hook.sh'), 0o755)
  await symlink('../data.json', join(directory, 'sub', 'link-inside'))
  await symlink(outside, join(directory, 'link-outside'))
  await symlink('../../t12/secret.txt', join(directory, 'link-sibling'))
}
