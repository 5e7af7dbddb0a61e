import type { MountPath } from '@ws/core/adapter'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { failure } from '../src/errors.ts'
import { copyAgainstUploads } from '../src/part/call-off.ts'
import type { Open } from '../src/part/opened.ts'
import { scratch } from './support.ts'

const destination = '/to' as MountPath

/** A copy that fails once, and what came of it. */
async function copied({ code = 'EIO', noted = false, forgets = true } = {}) {
  const metadata = await scratch()
  if (noted) writeFileSync(join(metadata, 'to'), '{}')
  const call = async () => {
    if (!forgets) throw new Error('no')
  }
  const errors = [failure(code as 'EIO', 'the first', { operation: 'copy', path: destination })]
  let attempts = 0
  const copy = async () => {
    attempts += 1
    const error = errors.shift()
    if (error !== undefined) throw error
    return 'copied'
  }
  const open = { running: { control: { call } }, metadata } as unknown as Open
  const outcome = await copyAgainstUploads(open, destination, copy).catch((error: { reason: string }) => error.reason)
  return { outcome, attempts }
}

it('a copy whose temporary file met its own upload is made again, and no other', async () => {
  expect(await copied()).toEqual({ outcome: 'copied', attempts: 2 })
  expect(await copied({ code: 'ENOSPC' })).toEqual({ outcome: 'the first', attempts: 1 })
  expect(await copied({ noted: true })).toEqual({ outcome: 'the first', attempts: 1 })
  expect(await copied({ forgets: false })).toEqual({ outcome: 'the first', attempts: 1 })
})
