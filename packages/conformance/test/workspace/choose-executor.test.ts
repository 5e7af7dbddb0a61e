import { guaranteeFields, type Executor, type Guarantees } from '@ws/core/executor'
import { expect, it } from 'vitest'

import { openMemory } from './open.ts'

const nothing = Object.fromEntries(guaranteeFields.map((field) => [field, 'none'])) as unknown as Guarantees

function absent(name: string, missing: readonly string[], howToFix: readonly string[]): Executor {
  return {
    name,
    kind: 'interpreter',
    probe: () => Promise.resolve({ available: false, guarantees: nothing, missing, howToFix, details: {} }),
    attach: () => Promise.reject(new Error('never asked')),
  }
}

it('says each reason once, with the executors that it stands against', async () => {
  const executors = [
    absent('first', ['bwrap is not installed', 'proot is not installed'], ['apt-get install bubblewrap proot']),
    absent('second', ['proot is not installed'], ['apt-get install proot']),
  ]
  await expect(openMemory({ '/': {} }, { executors })).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    message: expect.stringContaining(
      'no executor can be used (first: bwrap is not installed; first, second: proot is not installed)',
    ),
  })
})
