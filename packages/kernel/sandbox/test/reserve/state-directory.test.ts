import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { reservedDirectory, stateDirectoryProblem } from '../../src/reserve/state-directory.ts'

let scratch: ScratchDirectory
let state: string
beforeEach(async () => {
  scratch = await createScratchDirectory({ prefix: 'ws-state-' })
  state = join(scratch.path, 'state')
  vi.stubEnv('WS_STATE_DIRECTORY', state)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await scratch.remove()
})

it('[RU2] each reason for which the state directory cannot be used has words and a remedy of its own', () => {
  expect(stateDirectoryProblem()).toBeUndefined()
  chmodSync(state, 0o777)
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'other users can reach the state directory' })
  chmodSync(state, 0o700)
  chmodSync(join(state, 'reserved'), 0o750)
  expect(stateDirectoryProblem()?.remedy).toContain('`chmod 700` it')
  vi.stubEnv('WS_STATE_DIRECTORY', join(scratch.path, 'file'))
  writeFileSync(join(scratch.path, 'file'), '')
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'a file or link is in the place of the state directory' })
  mkdirSync(join(scratch.path, 'real'), { mode: 0o700 })
  symlinkSync('real', join(scratch.path, 'link'))
  vi.stubEnv('WS_STATE_DIRECTORY', join(scratch.path, 'link'))
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'a file or link is in the place of the state directory' })
})

it('[RU2] is the same whatever HOME says: two processes with different ones share their reserved names', () => {
  vi.stubEnv('WS_STATE_DIRECTORY', undefined)
  const before = reservedDirectory()
  vi.stubEnv('HOME', scratch.path)
  expect(reservedDirectory()).toBe(before)
})
