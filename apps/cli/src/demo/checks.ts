import assert from 'node:assert/strict'

import { createWorkspace, type Workspace } from '@ws/core'
import type { Owner } from '@ws/core/adapter'

import type { Suite } from '../verify/run.ts'
import { createProject } from './project.ts'

/** Tests for the sample project in particular. */
export function projectSuite(owner: Owner): Suite {
  return ({ create, roots = [] }, { describe, it }) => {
    const test = (title: string, program: string, run: (workspace: Workspace) => Promise<void>): void => {
      it(title, async ({ skip }) => {
        const { executor, open = createWorkspace } = await create()
        if (executor.kind === 'interpreter') skip(`executor kind ${executor.kind}`)
        await using project = await createProject(owner)
        const [at = '/'] = roots
        await using workspace = await open({ mounts: [{ at, adapter: project.openProject }], executors: [executor] })
        if ((await workspace.exec(`command -v ${program}`)).exitCode !== 0) skip(`needs ${program}`)
        await run(workspace)
      })
    }
    const run = async (workspace: Workspace, command: string, expected: string): Promise<void> => {
      const { stdout, stderr } = await workspace.exec(command, { login: false, timeout: 30_000 })
      assert.equal(stdout, expected, stderr)
    }

    describe('the sample project', () => {
      describe('the sample project', () => {
        test('its JavaScript: tests pass, 26 words', 'node', async (workspace) => {
          await run(workspace, 'node --test test/ >/tmp/log 2>&1 && node src/main.js', '26\n')
        })

        test('its Python: tests pass, the same 26 words', 'python3', async (workspace) => {
          await run(workspace, 'python3 -m unittest discover tests 2>/tmp/log && python3 -m wordcount', '26\n')
          const text = await workspace.readText('docs/poem.txt')
          assert.equal(text.split(/\s+/u).filter(Boolean).length, 26)
        })

        test('its git repository is intact; git log and diff agree', 'git', async (workspace) => {
          await workspace.append('README.md', 'One more line.\n')
          await run(
            workspace,
            'git log --format=%s | tail -n 1; git diff --stat -- README.md | tail -n 1; git checkout -q README.md',
            'The sample project\n 1 file changed, 1 insertion(+)\n',
          )
          assert(!(await workspace.readText('README.md')).includes('One more'), 'git checkout is not seen')
        })

        test('its names and its binary files are the same at both doors', 'sha256sum', async (workspace) => {
          const { bytes } = await workspace.read('assets/every-byte.bin')
          const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes))).toString('hex')
          await run(workspace, 'sha256sum < assets/every-byte.bin', `${digest}  -\n`)
          const listed = (await Array.fromAsync(workspace.list('odd names'))).map(({ name }) => `./${name}`)
          const { stdout } = await workspace.exec('cd "odd names" && find . -mindepth 1 -print0', { login: false })
          assert.deepEqual(stdout.split('\0').filter(Boolean).sort(), listed.sort())
        })
      })
    })
  }
}
