import { describe, expect, it } from 'vitest'
import { faults } from '@ws/conformance'
import { conformanceTable } from './table.ts'

describe('the tables of docs/conformance.md', () => {
  it('have a section for each suite, with its promises', () => {
    const sections = conformanceTable().split('## ').slice(1)
    expect(sections.map((section) => section.split('\n')[0])).toEqual([
      'Adapters: `testAdapter`',
      'Executors: `testExecutor`',
      'Workspaces, the two doors and attacks on the policy: `testWorkspace`',
    ])
    for (const section of sections) {
      const [, promises = ''] = /^(\d+) promises; [1-9]\d* broken implementations/mu.exec(section) ?? []
      expect(Number(promises)).toBeGreaterThan(50)
      expect(section.match(/^\| .+ \| .+ \|$/gmu)).toHaveLength(Number(promises) + 2)
    }
  })

  it('has a promise for every broken implementation', () => {
    const broken = [...faults.adapters, ...faults.executors, ...faults.workspaces]
    expect(broken.length).toBeGreaterThanOrEqual(15)
    const table = conformanceTable()
    for (const { name, caughtBy } of broken) {
      const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
      const row = table.split('\n').find((line) => line.includes(escaped(caughtBy)) && line.includes(escaped(name)))
      expect(row, name).toBeDefined()
    }
  })
})
