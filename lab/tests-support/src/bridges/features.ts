import { readFileSync } from 'node:fs'

import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { columnNames, columns, openColumn } from './columns.ts'
import type { ColumnName, ColumnWorkspace } from './columns.ts'
import type { Files } from './index.ts'

export const featureNames = [
  'files',
  'a command',
  'background processes',
  'input of a process',
  'large results',
  'resume',
  'approvals',
  'skills',
  'memory',
] as const
export type FeatureName = (typeof featureNames)[number]

export interface Feature {
  /** The framework's part for this feature, for the table of the documentation. */
  readonly by: string
  test(place: ColumnWorkspace): Promise<void>
  /** By executor: the reason why the feature is missing. */
  readonly except?: Partial<Record<ColumnName, string>>
}

/** For each feature: its test, or the reason why the framework lacks it. */
export type Features = Readonly<Record<FeatureName, Feature | string>>

export const featureFiles: Files = {
  'src/answer.txt': 'answer=41\n',
  'skills/count/SKILL.md': '---\nname: count\ndescription: Counts lines\n---\nRun `wc -l`.\n',
  'AGENTS.md': 'The answer is 42.\n',
}

/** Tests each feature on each executor and at each root. Also checks the table of `docs/bridges.md` below `framework`. */
export function testFeatures(framework: string, features: Features): void {
  for (const column of columns) {
    const tier = column.quick ? {} : { tags: ['deep' as const] }
    describeWith(column.needs, `${framework} on ${column.name}`, tier, () => {
      for (const [name, feature] of Object.entries(features)) {
        const reason = typeof feature === 'string' ? feature : feature.except?.[column.name]
        if (typeof feature === 'string' || reason !== undefined) it.skip(`${name}: ${reason}`)
        else it(name, async () => feature.test(await openColumn(column, featureFiles)))
      }
    })
  }

  describe(`the table of ${framework}`, () => {
    it('stands in docs/bridges.md as it is tested', () => {
      const page = readFileSync(new URL('../../../../docs/bridges.md', import.meta.url), 'utf8')
      const section = page.split(`## ${framework}\n`)[1]?.split('\n## ')[0]?.trim()
      expect(section).toBe(tableOf(features))
    })
  })
}

export function tableOf(features: Features): string {
  const rows = featureNames.map((name) => {
    const feature = features[name]
    if (typeof feature === 'string') return [name, feature, ...columnNames.map(() => '–')]
    return [name, feature.by, ...columnNames.map((column) => feature.except?.[column] ?? 'yes')]
  })
  const head = ['', 'by', ...columnNames]
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |'))
    .join('\n')
}
