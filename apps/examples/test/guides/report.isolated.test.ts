/** @module-tag all */
import { rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTestWorkspace, expectFile } from '@ws/testing'
import { vol } from 'memfs'
import { expect, test, vi } from 'vitest'

import { writeReport } from './report.ts'

vi.mock('node:fs/promises', async () => ({ ...(await import('memfs')).fs.promises }))

test('an agent continues what the code wrote', async () => {
  vol.fromJSON({ '/in/sales.csv': 'a,1\nb,2\n' })
  await writeReport()
  const { workspace, close } = await createTestWorkspace({
    volume: vol,
    rules: [rules.readOnly('/in')],
    executors: [createVirtualExecutor()],
  })
  await workspace.exec('echo "Checked." >> /out/report.md; echo c,3 >> /in/sales.csv')
  expect(vol.readFileSync('/out/report.md', 'utf8')).toBe('# Sales\n\n2 lines\nChecked.\n')
  await expectFile(workspace, '/in/sales.csv', 'a,1\nb,2\n')
  await close()
})
