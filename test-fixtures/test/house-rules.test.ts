import { execFile } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { createScratchDirectory } from '../src/index.ts'

const root = resolve(import.meta.dirname, '../..')
const directAccess = "import { readFile } from 'node:fs/promises'\nexport const read = readFile\n"

/** The linter's output for a file of that name, by the repository's own rules. */
async function lint(name: string, content: string): Promise<string> {
  await using scratch = await createScratchDirectory()
  const file = join(scratch.path, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  await cp(join(root, '.oxlintrc.json'), join(scratch.path, '.oxlintrc.json'))
  const run = promisify(execFile)(join(root, 'node_modules/.bin/oxlint'), [name], { cwd: scratch.path })
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  return stdout
}

describe('the lint rules', () => {
  it.each([
    'packages/kernel/core/src/workspace/door.ts',
    'packages/adapters/memory/src/adapter.ts',
    'apps/cli/src/commands/files/table.ts',
  ])('[PM6] refuse direct file access in %s', async (name) => {
    expect(await lint(name, directAccess)).toContain('Files are reached through a storage adapter')
  })

  it.each(['packages/adapters/local/src/adapter.ts', 'packages/executors/proot/src/binds.ts'])(
    '[PM6] allow it in %s, which is what others go through',
    async (name) => {
      expect(await lint(name, directAccess)).not.toContain('Files are reached through a storage adapter')
    },
  )
})
