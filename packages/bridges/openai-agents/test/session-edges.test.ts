import { createSandboxClient } from '@ws/bridge-openai-agents'
import type { WorkspaceSandboxSession } from '@ws/bridge-openai-agents'
import { SandboxArchiveError } from '@openai/agents/sandbox'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { openSite, project, sites } from '@ws/tests-support/bridges'

async function openSession(workspace: Workspace): Promise<WorkspaceSandboxSession> {
  const session = await createSandboxClient(workspace).create()
  onTestFinished(() => session.close())
  return session
}

for (const site of sites) {
  describeWith(site.needs, `edges of a session on ${site.name}`, { tags: site.tags }, () => {
    it('refuses an archive that is empty or cut between two members, and keeps the files', async () => {
      const workspace = await openSite(site, project)
      const session = await openSession(workspace)
      const archive = await session.persistWorkspace()
      const cuts = [new Uint8Array(), '', new ArrayBuffer(0), archive.subarray(0, -1024)]
      for (const cut of cuts) await expect(session.hydrateWorkspace(cut)).rejects.toThrow(SandboxArchiveError)
      expect(await workspace.readText('src/answer.txt')).toBe('answer=41\n')
    })

    it('takes an absolute path below the root for a later entry', async () => {
      const workspace = await openSite(site)
      const session = await openSession(workspace)
      await session.materializeEntry({ path: '/workspace/a/b.txt', entry: { type: 'file', content: 'b' } })
      expect(await workspace.readText('a/b.txt')).toBe('b')
      expect([...session.state.manifest.iterEntries()].map(({ logicalPath }) => logicalPath)).toContain('a/b.txt')
    })

    it('reads the whole file where `maxBytes` is not finite', async () => {
      const session = await openSession(await openSite(site, { 'a.txt': 'one' }))
      for (const maxBytes of [Infinity, Number.NaN]) {
        expect(Buffer.from(await session.readFile({ path: 'a.txt', maxBytes })).toString()).toBe('one')
      }
    })
  })
}
