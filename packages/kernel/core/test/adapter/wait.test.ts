import { expect, it } from 'vitest'

import { orAbort } from '../../src/adapter/base/wait.ts'

it('lets go of a caller who aborts while a call hangs, and of what comes late', async () => {
  const controller = new AbortController()
  const { promise: hanging, resolve } = Promise.withResolvers<string>()
  const late: string[] = []
  const waiting = orAbort(hanging, controller.signal, (result) => late.push(result))
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  resolve('too late')
  await hanging
  await new Promise(setImmediate)
  expect(late).toEqual(['too late'])
})
