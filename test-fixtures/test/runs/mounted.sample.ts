import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { it } from 'vitest'

import { mountHanging, ordinaryOwner } from '../../src/index.ts'

it('leaves mounts', async () => {
  const outer = await mkdtemp(join(tmpdir(), 'left behind '))
  for (let times = 0; times < 2; times += 1) await mountHanging(outer, ordinaryOwner())
})
