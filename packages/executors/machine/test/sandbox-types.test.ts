import type { createE2bMachine, createVercelMachine } from '@ws/executor-machine'
import type { Sandbox as VercelSandbox } from '@vercel/sandbox'
import type { Sandbox as E2bSandbox } from 'e2b'
import { expectTypeOf, it } from 'vitest'

it('takes the sandboxes of e2b and @vercel/sandbox as they are', () => {
  expectTypeOf<E2bSandbox>().toExtend<Parameters<typeof createE2bMachine>[0]>()
  expectTypeOf<VercelSandbox>().toExtend<Parameters<typeof createVercelMachine>[0]>()
})
