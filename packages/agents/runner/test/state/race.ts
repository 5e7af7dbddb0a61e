// Ends attempts at one step as fast as it can, in a process of its own, beside another one. Arguments: state directory, the id of
// its run, the number of attempts. Begins at the first byte of its input. Prints the attempts of the common run that it won.
import { once } from 'node:events'

import { isWorkspaceError } from '@ws/core'

import { openLocalState } from '../../src/state/local.ts'
import { recordOf } from './support.ts'

const [, , directory = '', runId = '', attempts = ''] = process.argv
const { journal, close } = await openLocalState({ directory, mounted: [] })
process.stdout.write('ready\n')
await once(process.stdin, 'data')

let newest = 0
for (let attempt = 1; attempt <= Number(attempts); attempt += 1) {
  for (const key of [
    { runId, attempt },
    { runId: 'common', attempt },
  ]) {
    try {
      await journal.saveEnd(recordOf(key), { stepId: 'one', entries: [], value: `${runId} ${attempt}` })
      if (key.runId === 'common') process.stdout.write(`won ${attempt}\n`)
    } catch (error) {
      if (key.runId !== 'common' || !isWorkspaceError(error, 'ECONFLICT')) throw error
    }
    const { order = 0 } = await journal.last('one')
    if (order < newest) throw new Error(`the last state went back from ${newest} to ${order}`)
    newest = order
  }
}
await close()
process.stdin.destroy()
