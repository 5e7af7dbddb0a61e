import { expect, it } from 'vitest'

import { describeWith, itWith, type Component } from '../../src/index.ts'

const absent: Component = { name: 'proot', available: false, reason: 'proot: not here', path: undefined }

it('runs', () => {
  expect(1).toBe(1)
})

describeWith(absent, 'a group', () => {
  it('would fail', () => {
    expect.unreachable()
  })
})

itWith([{ ...absent, available: true }, absent], 'one alone would fail', () => {
  expect.unreachable()
})
