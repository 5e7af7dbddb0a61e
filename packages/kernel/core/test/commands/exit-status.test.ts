import { constants } from 'node:os'
import { expect, it } from 'vitest'
import { exitStatusOf } from '../../src/executor/killed.ts'

it('is the exit code, or 128 and the number that this system has for the signal', () => {
  expect(exitStatusOf({ exitCode: 7, signal: null })).toBe(7)
  for (const [name, number] of Object.entries(constants.signals)) {
    // Older names of the same numbers.
    if (['SIGIOT', 'SIGPOLL', 'SIGUNUSED'].includes(name)) continue
    expect(exitStatusOf({ exitCode: null, signal: name }), name).toBe(128 + number)
  }
  expect(exitStatusOf({ exitCode: null, signal: 'SIG34' })).toBe(162)
  expect(exitStatusOf({ exitCode: null, signal: 'SIGNEW' })).toBe(255)
})
