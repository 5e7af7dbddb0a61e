import { beforeAll, describe, expect, it } from 'vitest'

it('fails', () => {
  expect(1, 'one is not two').toBe(2)
})

describe('a group', () => {
  beforeAll(() => {
    throw new Error('the hook does not work')
  })

  it('is not reached', () => {
    expect(1).toBe(1)
  })
})
