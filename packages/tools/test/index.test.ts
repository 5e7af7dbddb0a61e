import { expect, it } from 'vitest'

it('can be imported', async () => {
  await expect(import('@ws/tools')).resolves.toBeDefined()
})
