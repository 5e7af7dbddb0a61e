import { expect, it } from 'vitest'

it('can be imported', async () => {
  await expect(import('@ws/download')).resolves.toBeDefined()
})
