import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { shareEngine, siteOf } from './support/site.ts'

shareEngine()

const names = Array.from({ length: 2_500 }, (_, index) => `file-${String(index).padStart(4, '0')}`)
const [first = ''] = names
const last = names.at(-1) ?? ''

function fill(root: string): void {
  for (const name of names) writeFileSync(join(root, name), name)
}

describe('a second thread for the looks at a large tree', () => {
  it('[UN1] [UN2] misses no change of a tree, at either end of it', { tags: 'rounds' }, async () => {
    const { workspace, root } = await siteOf({ automatic: true })
    fill(root)
    for (const turn of rounds({ quick: 1, most: 4 })) {
      const { id } = await workspace.checkpoint()
      const chosen = [first, names[turn + 1], names[1_250 + turn], names.at(-2 - turn), last].map(String)
      for (const name of chosen) writeFileSync(join(root, name), `turn ${turn}`)
      rmSync(join(root, names[100 + turn] ?? ''))
      writeFileSync(join(root, `new-${turn}`), 'new')
      const changed = (await workspace.changes({ since: id })).map(({ path, kind }) => `${kind} ${path}`)
      const expected = [
        ...chosen.map((name) => `changed /${name}`),
        `deleted /${names[100 + turn]}`,
        `created /new-${turn}`,
      ]
      expect(changed.toSorted()).toEqual(expected.toSorted())
      await workspace.restore(id)
      expect(await workspace.changes({ since: id })).toEqual([])
    }
  })
})
