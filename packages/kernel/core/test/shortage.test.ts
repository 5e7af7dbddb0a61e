import { shortages } from '@ws/core/executor'
import { expect, it } from 'vitest'

it('takes the limit of namespaces for itself, not for a full disk', () => {
  expect(shortages.inText('unshare: unshare failed: No space left on device')).toMatchObject({
    code: 'EIO',
    reason: 'there are as many namespaces as this machine allows',
  })
  expect(shortages.inText('cp: a: No space left on device')?.code).toBe('ENOSPC')
})
