import { createSandboxSession } from '@ws/bridge-ai-sdk'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite, sites } from '@ws/tests-support/bridges'

const size = 1_500_000

for (const site of sites) {
  describeWith(site.needs, `the output of commands on ${site.name}`, { tags: site.tags }, () => {
    it('is whole beyond 1 MiB, on both streams', async () => {
      const session = createSandboxSession(await openSite(site, { big: 'x'.repeat(size) }))
      const { stdout, stderr } = await session.run({ command: 'cat big; cat big >&2' })
      expect([stdout.length, stderr.length]).toEqual([size, size])
    })

    it('does not hold up `wait` while nobody reads it, and is there afterwards', async () => {
      const session = createSandboxSession(await openSite(site, { big: 'x'.repeat(size) }))
      const process = await session.spawn({ command: 'cat big; cat big >&2; exit 3' })
      expect(await process.wait()).toEqual({ exitCode: 3 })
      const length = async (stream: ReadableStream<Uint8Array>) => (await new Response(stream).bytes()).length
      expect(await Promise.all([length(process.stdout), length(process.stderr)])).toEqual([size, size])
    })
  })
}
