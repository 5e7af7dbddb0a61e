import { equal, rejects } from '../assert.ts'
import { at, offered } from './case.ts'
import type { Suite } from './suite.ts'

/** A time in 2001, with milliseconds, so that tests detect a store that rounds times. */
const past = 1_000_000_000_123

export function attributeTests({ describe, change }: Suite): void {
  describe('chmod', () => {
    const needs = { chmod: true }

    change('sets the permission bits, and leaves content and time', needs, async (it) => {
      const chmod = offered(it.adapter.chmod, 'chmod').bind(it.adapter)
      await it.put('/a', 'text')
      for (const mode of [0o600, 0o755, 0o444, 0o640]) {
        const before = await it.adapter.stat(at('/a'))
        equal(await chmod(at('/a'), mode), undefined)
        const after = await it.adapter.stat(at('/a'))
        equal({ mode: after.mode, time: after.modifiedAt }, { mode, time: before.modifiedAt }, 'bits and time')
        if (it.capabilities.uniqueVersions) equal(after.version !== before.version, true, 'the version being new')
      }
      equal(await it.text('/a'), 'text')
    })

    change('refuses bits beyond 0o777, and no bits at all: EINVAL', needs, async (it) => {
      const chmod = offered(it.adapter.chmod, 'chmod').bind(it.adapter)
      await it.put('/a', 'text')
      const before = await it.adapter.stat(at('/a'))
      for (const mode of [0o1000, 0o2755, 0o4755, 0o7777, -1, 0.5, Number.NaN, '644', undefined, null]) {
        await rejects(chmod(at('/a'), mode as number), 'EINVAL', { path: '/a', what: String(mode) })
      }
      equal(await it.adapter.stat(at('/a')), before)
    })

    change('needs an entry, and leaves the root: ENOENT, EBUSY', needs, async (it) => {
      const chmod = offered(it.adapter.chmod, 'chmod').bind(it.adapter)
      await it.put('/a', 'text')
      await rejects(chmod(at('/none'), 0o600), 'ENOENT', { path: '/none' })
      await rejects(chmod(at('/'), 0o600), 'EBUSY', { path: '/' })
    })

    change('sets the bits of a directory', { ...needs, modes: true }, async (it) => {
      const chmod = offered(it.adapter.chmod, 'chmod').bind(it.adapter)
      await it.put('/dir/a', 'text')
      await chmod(at('/dir'), 0o750)
      equal((await it.adapter.stat(at('/dir'))).mode, 0o750)
    })
  })

  describe('utimes', () => {
    const needs = { utimes: true }

    change('sets the time, and leaves content and bits', needs, async (it) => {
      const utimes = offered(it.adapter.utimes, 'utimes').bind(it.adapter)
      await it.put('/a', 'text')
      for (const modifiedAt of [past, 0, past + 1, past]) {
        const before = await it.adapter.stat(at('/a'))
        equal(await utimes(at('/a'), { modifiedAt }), undefined)
        const after = await it.adapter.stat(at('/a'))
        equal({ mode: after.mode, time: after.modifiedAt }, { mode: before.mode, time: modifiedAt }, 'bits and time')
        if (it.capabilities.uniqueVersions) equal(after.version !== before.version, true, 'the version being new')
      }
      equal(await it.text('/a'), 'text')
    })

    change('refuses what is not a time: EINVAL', needs, async (it) => {
      const utimes = offered(it.adapter.utimes, 'utimes').bind(it.adapter)
      await it.put('/a', 'text')
      const before = await it.adapter.stat(at('/a'))
      for (const modifiedAt of [-1, Number.NaN, Infinity, 1e18, '5', new Date(), undefined]) {
        const times = { modifiedAt: modifiedAt as number }
        await rejects(utimes(at('/a'), times), 'EINVAL', { path: '/a', what: String(modifiedAt) })
      }
      equal(await it.adapter.stat(at('/a')), before)
    })

    change('needs an entry, and leaves the root: ENOENT, EBUSY', needs, async (it) => {
      const utimes = offered(it.adapter.utimes, 'utimes').bind(it.adapter)
      await it.put('/a', 'text')
      await rejects(utimes(at('/none'), { modifiedAt: past }), 'ENOENT', { path: '/none' })
      await rejects(utimes(at('/'), { modifiedAt: past }), 'EBUSY', { path: '/' })
    })
  })
}
