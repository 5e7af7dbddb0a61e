import { createLocalAdapter } from '@ws/adapter-local'
import { ordinaryOwner } from '@ws/test-fixtures'

import type { Contender, Operations } from '../contenders/contender.ts'
import { openNode } from '../contenders/node.ts'
import { adapterContender, ownContender } from '../contenders/own.ts'
import { type Measurement, type Way, compare, own, summary } from '../measure.ts'
import { openSite } from '../site.ts'
import type { Case } from './case.ts'

/** Milliseconds from the start of the process after which no further case begins. */
const enough = 55_000

interface Cases {
  readonly section: string
  /** Host path of the directory that all contenders share. */
  readonly casesIn: (directory: string) => readonly Case[]
  readonly report: (measurement: Measurement) => void
}

export async function measureCases({ section, casesIn, report }: Cases): Promise<void> {
  await using site = await openSite()
  const { directory, workspace } = site
  await using adapter = await createLocalAdapter({ root: directory, owner: ordinaryOwner() })
  const plain = await openNode(directory)
  const contenders: Contender[] = [ownContender(workspace), adapterContender(adapter)]
  const cases = casesIn(directory)
  for (const { operation, work, before, prepare, reference = plain, ...comparison } of cases) {
    const way = ({ name, operations }: Contender): Way => ({
      name,
      run: work(operations as Required<Operations>, folderOf(name)),
      before: before && (async () => before(folderOf(name), comparison.count)),
    })
    const able = contenders.filter(({ operations }) => operations[operation] !== undefined)
    if (performance.now() > enough) {
      const failure = 'no time was left: the machine is busy'
      report({ section, ...comparison, against: reference.name, figures: [{ ...summary(own, []), failure }] })
      continue
    }
    const names = [reference, ...able].map(({ name }) => folderOf(name))
    const maxRounds = (await prepare?.(names)) ?? comparison.maxRounds
    report(await compare(section, { ...comparison, maxRounds, reference: way(reference), ways: able.map(way) }))
  }
}

const folderOf = (name: string): string => name.replaceAll(/\W/g, '')
