import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { executorFaults, faults, workspaceFaults } from '@ws/conformance'
import { conformanceTable } from './table.ts'

describe('docs/conformance.md', () => {
  it('is the table of promises and broken implementations as it stands', async () => {
    await expect(conformanceTable()).toMatchFileSnapshot(join(import.meta.dirname, '../../../docs/conformance.md'))
  })

  it('has a promise for every broken implementation', () => {
    const broken = [...faults, ...executorFaults, ...workspaceFaults]
    expect(broken.length).toBeGreaterThanOrEqual(15)
    const table = conformanceTable()
    for (const { name, caughtBy } of broken) {
      const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
      const row = table.split('\n').find((line) => line.includes(escaped(caughtBy)) && line.includes(escaped(name)))
      expect(row, name).toBeDefined()
    }
  })
})
