import { createSandboxSession } from '@ws/bridge-ai-sdk'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite, sites } from '@ws/bridge-fixtures'

const size = 1_500_000

for (const site of sites) {
  describeWith(site.needs, `the output of commands on ${site.name}`, () => {
    it('is whole beyond 1 MiB, on both streams', async () => {
      const session = createSandboxSession(await openSite(site, { big: 'x'.repeat(size) }))
      const { stdout, stderr } = await session.run({ command: 'cat big; cat big >&2' })
      expect([stdout.length, stderr.length]).toEqual([size, size])
    })
  })
}
