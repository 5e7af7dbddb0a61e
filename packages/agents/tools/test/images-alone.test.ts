import { gif, png } from '@ws/test-fixtures/images'
import { createTools } from '@ws/tools'
import { expect, it, vi } from 'vitest'

import { files } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

vi.mock('sharp', () => {
  throw new Error('is not installed')
})

it.each([
  [
    'has more pixels of a side than models take',
    png(2001, 1),
    `is image/png, 2001 × 1 pixels, ${png(2001, 1).length} bytes; models take at most 2000 pixels of a side and`,
  ],
  [
    'moves',
    gif(3, 4, 4),
    `is image/gif, 4 × 4 pixels, ${gif(3, 4, 4).length} bytes, and moves; models see still images`,
  ],
])('[FS2] without `sharp`, an image that %s is refused with its sizes', async (_, bytes, words) => {
  const { refused } = files(createTools(await workspaceWith({ '/a': bytes })))
  const { text, data } = await refused('read', { path: '/a' })
  expect(text).toContain(`\`/a\` ${words}`)
  expect(text).toContain('Make a smaller still image of it with a command, or ask for one.')
  expect(data).toMatchObject({ code: 'EFBIG', path: '/a' })
})

it('[FS2] without `sharp`, an image within the limits is given', async () => {
  const { done } = files(createTools(await workspaceWith({ '/a': png(2000, 1) })))
  expect((await done('read', { path: '/a' })).image).toMatchObject({ width: 2000, height: 1 })
})
