import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths, WorkspaceError } from '@ws/core'
import { wrapAdapter, type StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createMachineLeases, createObjectLeases, createProcessLeases, type LeaseStore } from '@ws/threads'
import { describe, expect, it, onTestFinished } from 'vitest'

const directory = '.ws/threads'

/** A clock that moves only when the test moves it. */
class TestClock {
  monotonic = 1000
  uptime = 5000
  wall = 1_700_000_000_000
  readonly now = () => ({ monotonic: this.monotonic, uptime: this.uptime })
  readonly time = () => this.wall
  pass(milliseconds: number): void {
    this.monotonic += milliseconds
    this.uptime += milliseconds
    this.wall += milliseconds
  }
}

const open = (adapter: StorageAdapter, holder: string, clock = new TestClock()) =>
  createObjectLeases({ adapter, directory, holder, clock })

const stores: readonly { name: string; needs: ReturnType<typeof s3Needs>; open(): Promise<StorageAdapter> }[] = [
  { name: 'memory', needs: [], open: async () => createMemoryAdapter() },
  ...(['r2', 'ceph'] as const).map((name) => ({
    name,
    needs: s3Needs(name),
    open: async () => {
      const server = await sharedS3Server(name)
      return createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })
    },
  })),
]

for (const { name, needs, open: openStore } of stores) {
  describeWith(
    needs,
    `leases as objects on ${name}`,
    { tags: name === 'ceph' ? ['all'] : name === 'r2' ? ['deep'] : [] },
    () => {
      it('[TH2] are held by one, given back, and never deleted', async () => {
        await using adapter = await openStore()
        const lease = await open(adapter, 'first').acquire('t1')
        const other = open(adapter, 'second')
        await expect(other.acquire('t1')).rejects.toMatchObject({
          code: 'EBUSY',
          path: 't1',
          reason: 'is in use by first since 2023-11-14T22:13:20.000Z',
        })
        expect(await other.holder('t1')).toEqual({ name: 'first', since: 1_700_000_000_000 })
        await lease.release()
        expect(await other.holder('t1')).toBeUndefined()
        const { bytes } = await adapter.read(paths.parseMount('/.ws/threads/t1/lease'))
        expect(JSON.parse(Buffer.from(bytes).toString())).toMatchObject({ state: 'free', counter: 2 })
        expect((await other.acquire('t1')).holder.name).toBe('second')
      })

      it('[TH2] are taken over when they were seen unchanged for the whole TTL, and not before', async () => {
        await using adapter = await openStore()
        const clock = new TestClock()
        const lease = await open(adapter, 'first').acquire('t1')
        const challenger = open(adapter, 'second', clock)
        await expect(challenger.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
        clock.pass(29_999)
        await expect(challenger.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
        await lease.writeNotes({ a: '1' }) // a sign of life
        clock.pass(29_999)
        await expect(challenger.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
        clock.pass(30_000)
        const taken = await challenger.acquire('t1')
        expect(taken.notes).toEqual({ a: '1' })

        await expect(lease.writeNotes({})).rejects.toMatchObject({ code: 'ECLOSED' })
        expect(lease.lost.aborted).toBe(true)
        expect(lease.isHeld()).toBe(false)
        await lease.release()
        expect(taken.isHeld()).toBe(true)
      })

      it('[TH2] exclude each other, however many ask at once', async () => {
        await using adapter = await openStore()
        await contend(adapter)
      })
    },
  )
}

async function contend(adapter: StorageAdapter): Promise<void> {
  let inside = 0
  let most = 0
  let count = 0
  await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const leases = createObjectLeases({ adapter, directory, holder: `h${index}`, ttl: 200_000 })
      for (let round = 0; round < 3; round++) {
        await using lease = await acquireSometime(leases)
        inside += 1
        most = Math.max(most, inside)
        await lease.writeNotes({ count: String((count += 1)) })
        inside -= 1
      }
    }),
  )
  expect({ most, count }).toEqual({ most: 1, count: 24 })
}

async function acquireSometime(leases: LeaseStore) {
  for (;;) {
    try {
      return await leases.acquire('t1')
    } catch (error) {
      if (!(error instanceof WorkspaceError) || error.code !== 'EBUSY') throw error
    }
  }
}

/** A store that fails all writes on demand. */
function failing() {
  const inner = createMemoryAdapter()
  let isFailing = false
  const adapter = wrapAdapter(inner, {
    name: 'failing',
    capabilities: inner.capabilities,
    async call({ operation }, run) {
      if (isFailing) throw new WorkspaceError({ code: 'EBACKEND', operation, reason: 'is away' })
      return run()
    },
  })
  return { adapter, fail: (value: boolean) => (isFailing = value) }
}

describe('a holder', () => {
  it('[TH2] stops 5 s before a challenger may begin, and goes on when the store confirms it', async () => {
    const clock = new TestClock()
    const lease = await open(createMemoryAdapter(), 'first', clock).acquire('t1')
    clock.pass(15_000)
    await lease.writeNotes({})
    clock.pass(24_999)
    expect(lease.isHeld()).toBe(true)
    clock.pass(1)
    expect(lease.isHeld()).toBe(false)
    clock.pass(1_000_000)
    await lease.confirm?.()
    expect(lease.isHeld()).toBe(true)
    expect(lease.lost.aborted).toBe(false)
  })

  it('[TH2] has lost it when the store shows another holder, and never changes the lease of that', async () => {
    const adapter = createMemoryAdapter()
    const [clock, other] = [new TestClock(), new TestClock()]
    const lease = await open(adapter, 'first', clock).acquire('t1')
    const challenger = open(adapter, 'second', other)
    await expect(challenger.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
    other.pass(30_000)
    const taken = await challenger.acquire('t1')
    clock.pass(25_000)
    await expect(lease.confirm?.()).rejects.toMatchObject({ code: 'ECLOSED' })
    expect(lease.lost.reason).toMatchObject({ code: 'ECLOSED' })
    await expect(lease.writeNotes({ a: '1' })).rejects.toMatchObject({ code: 'ECLOSED' })
    await lease.release()
    await taken.writeNotes({ b: '2' })
    expect(taken.isHeld()).toBe(true)
  })

  it.each([true, false])('[TH2] without an answer of the store: patient %s', async (patient) => {
    const { adapter, fail } = failing()
    const clock = new TestClock()
    const lease = await open(adapter, 'first', clock).acquire('t1', { patient })
    fail(true)
    clock.pass(29_999)
    await expect(lease.confirm?.()).rejects.toMatchObject({ code: 'EBACKEND' })
    expect(lease.lost.aborted).toBe(false)
    clock.pass(1)
    await expect(lease.confirm?.()).rejects.toMatchObject({ code: patient ? 'EBACKEND' : 'ECLOSED' })
    expect(lease.isHeld()).toBe(false)
    expect(lease.lost.aborted).toBe(!patient)
    fail(false)
    if (patient) await lease.confirm?.()
    expect(lease.isHeld()).toBe(patient)
  })

  it('[TH2] notices that the machine was suspended, in which its monotonic clock stood still', async () => {
    const clock = new TestClock()
    const lease = await open(createMemoryAdapter(), 'first', clock).acquire('t1')
    clock.uptime += 60_000
    expect(lease.isHeld()).toBe(false)
  })

  it('[TH2] keeps it when the clock on the wall is set', async () => {
    const clock = new TestClock()
    const lease = await open(createMemoryAdapter(), 'first', clock).acquire('t1')
    clock.wall += 60_000
    expect(lease.isHeld()).toBe(true)
    clock.wall -= 120_000
    expect(lease.isHeld()).toBe(true)
  })

  it('keeps the lease when the answer to a change was lost', async () => {
    const inner = createMemoryAdapter()
    let losing = true
    const adapter = wrapAdapter(inner, {
      name: 'losing',
      capabilities: inner.capabilities,
      async call({ operation }, run) {
        const result = await run()
        if (operation === 'write' && losing) {
          throw new WorkspaceError({ code: 'EIO', operation, reason: 'may have been written' })
        }
        return result
      },
    })
    const lease = await open(adapter, 'first').acquire('t1')
    await lease.writeNotes({ a: '1' })
    losing = false
    await lease.writeNotes({ a: '2' })
    expect(lease.isHeld()).toBe(true)
  })

  it('[TH2] outlives a renewal that hangs, and knows its effect when that comes late', async () => {
    const inner = createMemoryAdapter()
    let renewals = 0
    const renewed = Promise.withResolvers<void>()
    const write: StorageAdapter['write'] = async (path, data, options = {}) => {
      const result = await inner.write(path, data, options)
      if (options.ifVersion === 'absent') return result
      renewals += 1
      if (renewals === 3) renewed.resolve()
      if (renewals !== 1) return result
      const { promise, reject } = Promise.withResolvers<never>()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error))
      return promise // done, and the answer is lost
    }
    const adapter = { ...wrapAdapter(inner, { name: 'hanging', capabilities: inner.capabilities }), write }
    const leases = createObjectLeases({ adapter, directory, ttl: 6000 })
    await using lease = await leases.acquire('t1')
    await renewed.promise
    expect(lease.isHeld()).toBe(true)
    expect(lease.lost.aborted).toBe(false)
  }, 30_000)

  it('[TH2] is not locked out by its own lease that was lost, and others still are', async () => {
    const { adapter, fail } = failing()
    const clock = new TestClock()
    const first = await open(adapter, 'first', clock).acquire('t1')
    await expect(open(adapter, 'second', clock).acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
    fail(true)
    clock.pass(30_000)
    await expect(first.confirm?.()).rejects.toMatchObject({ code: 'ECLOSED' })
    fail(false)
    const again = await open(adapter, 'again', clock).acquire('t1')
    expect(again.isHeld()).toBe(true)
    await expect(open(adapter, 'second', clock).acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
  })

  it('does not take an object for a lease that holds something else', async () => {
    const adapter = createMemoryAdapter({ files: { '/.ws/threads/t1/lease': 'hello' } })
    await expect(open(adapter, 'first').acquire('t1')).rejects.toMatchObject({
      code: 'EINVAL',
      reason: 'does not hold a lease of this version',
    })
  })
})

describe('leases in a directory', () => {
  it('[TH2] hold for any environment, end with their process, and are not kept by one that was stopped', {
    tags: 'all',
    timeout: 120_000,
  }, async () => {
    await using scratch = await createScratchDirectory()
    const source = `
      import { createLocalAdapter } from '@ws/adapter-local'
      import { createObjectLeases } from '@ws/threads'
      const adapter = await createLocalAdapter({ root: ${JSON.stringify(scratch.path)} })
      const leases = createObjectLeases({ adapter, directory: ${JSON.stringify(directory)}, ttl: 3000 })
      const lease = await leases.acquire('t1', { wait: 30_000 })
      process.once('SIGUSR2', () => console.log(String(lease.isHeld())))
      setInterval(() => {}, 1000)
      console.log('held')`
    const start = () => {
      const env = { ...process.env, HOME: '/nonexistent', XDG_STATE_HOME: '/nonexistent' }
      const child = spawn(process.execPath, ['--conditions=@ws/source', '--input-type=module', '--eval', source], {
        cwd: import.meta.dirname,
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }
    const adapter = await createLocalAdapter({ root: scratch.path })
    onTestFinished(() => adapter.close())
    const leases = createObjectLeases({ adapter, directory, ttl: 3000 })
    expect(leases.scope).toBe('machine')

    const killed = start()
    await once(killed.stdout, 'data')
    expect((await leases.holder('t1'))?.name).toContain(`process ${killed.pid}`)
    await expect(leases.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
    const stopped = start() // waits
    killed.kill('SIGKILL')
    await once(stopped.stdout, 'data')
    stopped.kill('SIGSTOP')
    const began = performance.now()
    await using lease = await leases.acquire('t1', { wait: 60_000 })
    expect(performance.now() - began).toBeGreaterThan(1500)
    expect(lease.isHeld()).toBe(true)
    stopped.kill('SIGCONT')
    stopped.kill('SIGUSR2')
    const [said] = (await once(stopped.stdout, 'data')) as [Buffer]
    expect(said.toString()).toBe('false\n')
    const files = await Array.fromAsync(adapter.list(paths.parseMount(`/${directory}/t1`)))
    expect(files.length).toBeLessThanOrEqual(2)
  })

  it('[TH2] in a directory exclude each other', async () => {
    await using scratch = await createScratchDirectory()
    await using adapter = await createLocalAdapter({ root: scratch.path })
    await contend(adapter)
  })
})

describe('leases of a machine', () => {
  it('[TH2] are held by one process, and free as soon as it has died', async () => {
    await using scratch = await createScratchDirectory()
    const source = `
      import { createMachineLeases } from '@ws/threads'
      const leases = createMachineLeases({ key: 'k', directory: ${JSON.stringify(scratch.path)} })
      await leases.acquire('t1')
      console.log('held')
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--conditions=@ws/source', '--input-type=module', '--eval', source], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      await once(child.stdout, 'data')
      const leases = createMachineLeases({ key: 'k', directory: scratch.path })
      const held = {
        name: expect.stringContaining(`process ${child.pid}`) as string,
        since: expect.any(Number) as number,
      }
      expect(await leases.holder('t1')).toEqual(held)
      await expect(leases.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
      const waiting = leases.acquire('t1', { wait: 30_000 })
      child.kill('SIGKILL')
      await using lease = await waiting
      expect(lease.isHeld()).toBe(true)
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('[TH2] exclude two users in one process, and keep their notes', async () => {
    await using scratch = await createScratchDirectory()
    const leases = createMachineLeases({ key: 'k', directory: scratch.path })
    const lease = await leases.acquire('t1')
    await lease.writeNotes({ a: '1' })
    await expect(createMachineLeases({ key: 'k', directory: scratch.path }).acquire('t1')).rejects.toMatchObject({
      code: 'EBUSY',
    })
    await lease.release()
    await using again = await leases.acquire('t1')
    expect(again.notes).toEqual({ a: '1' })
  })

  it('[TH2] are refused where the notes cannot be read, since the next holder would overwrite them', async () => {
    await using scratch = await createScratchDirectory()
    const leases = createMachineLeases({ key: 'k', directory: scratch.path })
    await mkdir(join(scratch.path, 'k'))
    await symlink('t1.json', join(scratch.path, 'k/t1.json')) // a read fails, and a rename over it does not
    for (let asked = 0; asked < 2; asked += 1) {
      await expect(leases.acquire('t1')).rejects.toMatchObject({ code: 'EIO' }) // and gives the lock back
    }
  })

  it('say what to do where the state directory cannot be used', async () => {
    const leases = createMachineLeases({ key: 'k', directory: '/dev/null/x' })
    const error: unknown = await leases.acquire('t1').catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'EIO', remedy: expect.stringContaining('local disk') as string })
    expect(String(error)).not.toContain('/dev/null')
  })
})

describe('leases of a process', () => {
  it('[TH2] are held by one', async () => {
    const leases = createProcessLeases()
    const lease = await leases.acquire('t1')
    await expect(leases.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
    const waiting = leases.acquire('t1', { wait: 10_000 })
    await lease.release()
    expect((await waiting).isHeld()).toBe(true)
    expect(lease.isHeld()).toBe(false)
  })
})
