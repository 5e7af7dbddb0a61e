/** @module-tag all */
import { rules, type Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { file } from '@ws/testing'
import { workspaceTest } from '@ws/testing/vitest'
import { expect } from 'vitest'

const day = 86_400_000

/** The code under test: puts notes that are older than a day into the archive. */
async function archive(workspace: Workspace, now: number): Promise<void> {
  for await (const { path, name, modifiedAt = now } of workspace.list('/notes', { details: true })) {
    if (now - modifiedAt > day) await workspace.move(path, `/archive/${name}`)
  }
}

const test = workspaceTest({
  files: { notes: { 'old.md': file('old\n', { modifiedAt: 0 }), 'new.md': 'new\n' }, '.env': 'KEY=1\n' },
  rules: [rules.deny('/.env')],
  executors: [createVirtualExecutor()],
})

test('archives a note that is older than a day', async ({ workspace, site }) => {
  await archive(workspace, site.clock.now())
  await expect(workspace).toHaveTree({ 'old.md': 'old\n' }, { in: '/archive' })
  await expect(workspace).toHaveFile('/notes/new.md', /new/)

  site.clock.advance(2 * day)
  await archive(workspace, site.clock.now())
  await expect(workspace).toHaveTree({ 'old.md': 'old\n', 'new.md': 'new\n' }, { in: '/archive' })
})

test('leaves every note where it is when the store fails', async ({ workspace, site }) => {
  site.faults.setFaults([{ kind: 'error', operation: 'move' }])
  await expect(archive(workspace, site.clock.now())).rejects.toMatchObject({ code: 'EBACKEND' })
  await expect(workspace).toHaveTree({ 'old.md': 'old\n', 'new.md': 'new\n' }, { in: '/notes' })
})

test('hides the secrets from both doors', async ({ workspace }) => {
  await expect(workspace.readText('/.env')).toBeDenied({ rule: 'deny(/.env)' })
  await expect(workspace.exec('cat .env')).toBeDenied({ rule: 'deny(/.env)' })
})
