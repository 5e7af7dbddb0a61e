import { paths } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { noGuarantees, unsupportedRuntime } from '@ws/core/executor'
import { ordinaryOwner } from '@ws/test-fixtures'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'

import { defineExecutor, unavailable } from '../../src/executor/define-executor.ts'
import type { Probed } from '../../src/executor/driver.ts'
import { ProbeCache } from '../../src/executor/probe-cache.ts'

const root = paths.parseVirtual('/workspace')
const owner = ordinaryOwner()
const files = undefined as never
const attached = { prepare: () => Promise.reject(new Error('not here')) }

type Outcome = Probed<string>
const found: Outcome = { found: 'found', details: { version: '1' } }
const guarantees = () => noGuarantees

/** A kind of executor whose probes are counted. */
function define(outcome: () => Promise<Outcome> = async () => found, programs: readonly string[] = ['sh']) {
  const probe = vi.fn(outcome)
  const attach = vi.fn(() => attached)
  return { probe, attach, create: defineExecutor({ name: 'test', programs, probe, guarantees, attach }) }
}

describe('executors of one kind', () => {
  it('[PC13] share a probe for equal options, root and owner, also while it runs', async () => {
    const { probe, create } = define()
    const reports = await Promise.all([create({ a: 1 }), create({ a: 1 })].map((one) => one.probe({ root, owner })))
    expect(reports[0]).toBe(reports[1])
    await create({ a: 1 }).attach({ root, owner, files })
    expect(probe).toHaveBeenCalledTimes(1)
    await create({ a: 2 }).probe({ root, owner })
    await create({ a: 1 }).probe({ root: paths.parseVirtual('/'), owner })
    expect(probe).toHaveBeenCalledTimes(3)
    if (process.getuid?.() !== 0) return
    await create({ a: 1 }).probe({ root, owner: { uid: owner.uid + 1, gid: owner.gid } })
    expect(probe).toHaveBeenCalledTimes(4)
  })

  it('[PC13] find out what only an operator wants to know when a probe asks for it, and for no workspace', async () => {
    const describeMore = vi.fn(async () => ({ cost: 'low' }))
    const { probe, attach } = define()
    const more = { programs: ['sh'], probe, guarantees, attach, describe: describeMore }
    const executor = defineExecutor({ name: 'test', ...more })({})
    expect((await executor.probe({ root, owner })).details).toEqual(found.details)
    await executor.attach({ root, owner, files })
    expect(describeMore).not.toHaveBeenCalled()
    const { details } = await executor.probe({ root, owner, withDetails: true })
    expect(details).toEqual({ ...found.details, cost: 'low' })
  })

  it('probe again where something was missing, or the probe failed', async () => {
    const outcomes = [
      () => Promise.resolve(unavailable('it is not installed', 'install it')),
      () => Promise.reject(new Error('broken')),
      () => Promise.resolve(found),
    ]
    const { probe, create } = define(() => outcomes.shift()?.() ?? expect.fail())
    expect(await create({}).probe({ root, owner })).toMatchObject({
      available: false,
      missing: ['it is not installed'],
    })
    await expect(create({}).probe({ root, owner })).rejects.toThrow('broken')
    expect(await create({}).probe({ root, owner })).toMatchObject({ available: true })
    expect(await create({}).probe({ root, owner })).toMatchObject({ available: true })
    expect(probe).toHaveBeenCalledTimes(3)
  })

  it('let each caller give up alone', async () => {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const { create, probe } = define(() => promise)
    const abort = new AbortController()
    const given = create({}).probe({ root, owner, signal: abort.signal })
    const other = create({}).probe({ root, owner })
    abort.abort(new Error('no time'))
    await expect(given).rejects.toThrow('no time')
    resolve(found)
    expect(await other).toMatchObject({ available: true })
    await expect(create({}).probe({ root, owner, signal: abort.signal })).rejects.toThrow('no time')
    expect(probe).toHaveBeenCalledTimes(1)
  })

  it('refuse an owner that commands cannot run as, at the probe and when they are attached', async () => {
    const { create, probe, attach } = define()
    const refused: [Owner | undefined, RegExp][] = [[{ uid: 0, gid: 0 }, /never run as root/]]
    if (process.getuid?.() === 0) refused.push([undefined, /never run as root/])
    else refused.push([{ uid: owner.uid + 1, gid: owner.gid }, /would run as uid/])
    refused.push([{ uid: 1.5, gid: 0 }, /whole numbers/], [{ uid: 1000, gid: -1 }, /whole numbers/])
    for (const [wrong, reason] of refused) {
      const refusal = await create({})
        .attach({ root, owner: wrong, files })
        .catch((error: unknown) => error)
      expect(refusal).toMatchObject({ code: 'ENOEXECUTOR', reason: expect.stringMatching(reason) })
      expect(refusal).toMatchObject({ remedy: expect.stringMatching(/owner/) })
      if (wrong !== undefined) expect((await create({}).probe({ root, owner: wrong })).available).toBe(false)
    }
    expect(probe).not.toHaveBeenCalled()
    expect(attach).not.toHaveBeenCalled()
  })
})

describe('what was found by probing', () => {
  it('is asked again when a program has become another file', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ws-programs-'))
    try {
      const cache = new ProbeCache<Outcome>(['program'], [join(directory, 'missing'), directory])
      const probe = vi.fn(async () => found)
      const calls = async () => {
        await cache.get('key', probe)
        await cache.get('key', probe)
        return probe.mock.calls.length
      }
      expect(await calls()).toBe(1)
      await writeFile(join(directory, 'program'), 'old')
      expect(await calls()).toBe(2)
      await writeFile(join(directory, 'new'), 'new')
      await rename(join(directory, 'new'), join(directory, 'program'))
      expect(await calls()).toBe(3)
      await chmod(join(directory, 'program'), 0o4755)
      expect(await calls()).toBe(4)
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

describe('the runtime', () => {
  it('is supported where it is Node, and named where it is another', () => {
    expect(unsupportedRuntime()).toBeUndefined()
    expect(unsupportedRuntime({ node: '24.3.0', bun: '1.3.1' })).toBe('Bun 1.3.1')
    expect(unsupportedRuntime({ node: '24.2.0', deno: '2.5.0' })).toBe('Deno 2.5.0')
  })

  it('that is another one starts nothing: not even a probe', async () => {
    const { create, probe } = define()
    const versions = vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, bun: '1.3.1' })
    try {
      const report = await create({}).probe({ root, owner })
      expect(report).toMatchObject({ available: false, missing: ['commands run on Node only, and this is Bun 1.3.1'] })
      await expect(create({}).attach({ root, owner, files })).rejects.toMatchObject({
        code: 'ENOEXECUTOR',
        remedy: 'run this program with Node 22.18 or newer',
      })
    } finally {
      versions.mockRestore()
    }
    expect(probe).not.toHaveBeenCalled()
  })
})
