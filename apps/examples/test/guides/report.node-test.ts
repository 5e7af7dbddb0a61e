import assert from 'node:assert/strict'
import { mock, test } from 'node:test'

import { createTestWorkspace } from '@ws/testing'
import { fs, vol } from 'memfs'

mock.module('node:fs/promises', { namedExports: { ...fs.promises } })
const { writeReport } = await import('./report.ts')

void test('an agent continues what the code wrote', async () => {
  vol.fromJSON({ '/in/sales.csv': 'a,1\nb,2\n' })
  await writeReport()
  const { workspace, close } = await createTestWorkspace({ volume: vol })
  await workspace.append('/out/report.md', 'Checked.\n')
  assert.equal(vol.readFileSync('/out/report.md', 'utf8'), '# Sales\n\n2 lines\nChecked.\n')
  await close()
})
