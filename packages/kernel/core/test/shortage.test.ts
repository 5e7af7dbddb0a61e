import { shortageIn } from '@ws/core/executor'
import { expect, it } from 'vitest'

it('takes the limit of namespaces for itself, not for a full disk', () => {
  expect(shortageIn('unshare: unshare failed: No space left on device')).toMatchObject({
    code: 'EIO',
    reason: 'there are as many namespaces as this machine allows',
  })
  expect(shortageIn('cp: a: No space left on device')?.code).toBe('ENOSPC')
})
