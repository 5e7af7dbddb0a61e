import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import { attachContainer } from '../../src/container/driver.ts'
import { resolveOptions } from '../../src/container/options.ts'

it('does not wait for an engine without an answer when its command is aborted', async () => {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  vi.stubEnv('XDG_STATE_HOME', join(scratch.path, 'state'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const source = join(scratch.path, 'shown')
  mkdirSync(source)
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()]
  const engine = {
    call: async (method: string, path: string) => {
      if (method !== 'POST' || !path.startsWith('/containers/create')) return undefined
      asked.resolve()
      return await answer.promise
    },
  }
  const target = { root: '/workspace', owner: { uid: 1000, gid: 1000 } } as never
  const found = { engine, image: 'image', shells: ['/bin/sh'] } as never
  const driver = attachContainer(target, found, resolveOptions({ engine: 'unix:///none' }))
  const mount = { at: '/workspace', type: 'directory', kind: 'mount', access: 'read-write', source, rules: [] }
  const plan = { root: '/workspace', binds: [mount], aliases: [], restrictions: [], renameBorders: [] } as never
  const stop = new AbortController()
  const request = { command: 'true', cwd: '/workspace', env: {}, signal: stop.signal } as never
  const prepared = driver.prepare(plan, request)
  await asked.promise
  stop.abort(new Error('aborted'))
  await expect(prepared).rejects.toThrow('aborted')
  answer.reject(new Error('the engine is gone') as never)
  await driver.close?.()
})
