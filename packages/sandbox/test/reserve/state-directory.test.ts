import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { reservedDirectory, stateDirectoryProblem } from '../../src/reserve/state-directory.ts'

let scratch: ScratchDirectory
let state: string
beforeEach(async () => {
  scratch = await createScratchDirectory({ prefix: 'ws-state-' })
  state = join(scratch.path, 'state')
  process.env['WS_STATE_DIRECTORY'] = state
})
afterEach(async () => {
  delete process.env['WS_STATE_DIRECTORY']
  await scratch.remove()
})

it('[RU2] each reason for which the state directory cannot be used has words and a remedy of its own', () => {
  expect(stateDirectoryProblem()).toBeUndefined()
  chmodSync(state, 0o777)
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'other users can reach the state directory' })
  chmodSync(state, 0o700)
  chmodSync(join(state, 'reserved'), 0o750)
  expect(stateDirectoryProblem()?.remedy).toContain('`chmod 700` it')
  process.env['WS_STATE_DIRECTORY'] = join(scratch.path, 'file')
  writeFileSync(join(scratch.path, 'file'), '')
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'a file or link is in the place of the state directory' })
  mkdirSync(join(scratch.path, 'real'), { mode: 0o700 })
  symlinkSync('real', join(scratch.path, 'link'))
  process.env['WS_STATE_DIRECTORY'] = join(scratch.path, 'link')
  expect(stateDirectoryProblem()).toMatchObject({ reason: 'a file or link is in the place of the state directory' })
})

it('[RU2] is the same whatever HOME says: two processes with different ones share their reserved names', () => {
  delete process.env['WS_STATE_DIRECTORY']
  const before = reservedDirectory()
  const home = process.env['HOME']
  process.env['HOME'] = scratch.path
  try {
    expect(reservedDirectory()).toBe(before)
  } finally {
    process.env['HOME'] = home
  }
})
