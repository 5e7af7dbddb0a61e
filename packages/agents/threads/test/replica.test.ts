import type { S3Client } from '@aws-sdk/client-s3'
import { createReplicaAdapter, type ReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createThreads, type ReplicatedPart, type Threads } from '@ws/threads'
import type { ThreadEvent } from '../src/types.ts'
import { expect, it, onTestFinished, vi } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }
const needs = [...s3Needs('r2'), component('bubblewrap'), component('git'), component('python3-venv')]

interface Machine {
  readonly store: StorageAdapter
  readonly client: S3Client
  readonly threads: Threads
  readonly states: readonly ThreadEvent[]
  /** Copies of shared trees that are open now. */
  readonly sharedCopies: () => number
}

interface Options {
  readonly clock?: Parameters<typeof createObjectLeases>[0]['clock']
  readonly persist?: 'command' | 'flush'
  readonly provision?: boolean
}

// it costs a server of S3, and some 30 sandboxes
describeWith(needs, 'threads over a bucket, with a copy on each machine', () => {
  /** A machine has a client of its own, and directories of its own. */
  async function bucket(): Promise<(options?: Options) => Promise<Machine>> {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    return async ({ clock, persist, provision = false } = {}) => {
      const client = server.client({ maxAttempts: 1 })
      const store = await createS3Adapter({ client, bucket: server.bucket, symlinks: 'rclonelink' })
      const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
      let shared = 0
      const replica = async ({ store: part, threadId }: ReplicatedPart): Promise<ReplicaAdapter> => {
        const directory = threadId === undefined ? undefined : `${scratch.path}/${threadId}`
        const copy = await createReplicaAdapter({ store: part, directory, persist })
        if (threadId !== undefined) return copy
        shared += 1
        const { close } = copy
        return Object.assign(copy, { close: () => close().then(() => void (shared -= 1)) })
      }
      const states: ThreadEvent[] = []
      const threads = await createThreads({
        ...{ store, replica, provision },
        executors: [createBubblewrapExecutor()],
        leases: createObjectLeases({ adapter: store, directory: '.ws/threads', clock }),
        idleTimeout: 0,
        onState: (event) => states.push(event),
      })
      onTestFinished(async () => {
        await threads.close()
        await store.close()
        await scratch.remove()
      })
      return { store, client, threads, states, sharedCopies: () => shared }
    }
  }

  const clockOf = () => {
    const clock = { at: 1000, now: () => ({ monotonic: clock.at, uptime: clock.at }), time: () => clock.at }
    return clock
  }

  const text = async (store: StorageAdapter, path: string): Promise<string> =>
    new TextDecoder().decode((await store.read(paths.parseMount(path))).bytes)

  const put = (store: StorageAdapter, path: string, text: string): Promise<unknown> =>
    store.write(paths.parseMount(path), Buffer.from(text), { parents: true })

  it('[RP7, RP14] hand a thread with git and Python from one machine to the next', { tags: 'all' }, async () => {
    const machine = await bucket()
    const [first, second] = [await machine({ provision: true }), await machine({ provision: true })]
    for (const [round, { threads }] of [first, second, first].entries()) {
      const thread = await threads.open(user)
      const { workspace } = thread
      expect(thread.status()).toMatchObject({ leftOut: [], writer: { scope: 'server' } })
      await workspace.write(`/turn-${round}.py`, `print("turn ${round}")\n`)
      const git = 'git -c user.name=a -c user.email=a@example.org'
      const { exitCode, stdout } = await workspace.exec(
        `test -d .git || git init -q .; git add turn-*.py && ${git} commit -qm "turn ${round}" && git log --format=%s; for f in turn-*.py; do python "$f"; done; command -v python`,
      )
      const turns = Array.from({ length: round + 1 }, (_, index) => `turn ${index}`)
      expect(stdout.trim().split('\n')).toEqual([...turns.toReversed(), ...turns, '/.venv/bin/python'])
      expect(exitCode).toBe(0)
      await thread.close()
    }
  })

  it('[PC1] show skills to commands, as they are when a thread is opened, by one copy for all', {
    tags: 'all',
  }, async () => {
    const machine = await bucket()
    const { store, threads, sharedCopies } = await machine()
    await put(store, '/skills/system/plan/SKILL.md', '---\nname: plan\ndescription: Plans.\n---\nDo plan.\n')
    const one = await threads.open(user)
    const list = 'cat /.solven/skills/system/*/SKILL.md | grep name; echo x > /.solven/skills/system/x || echo refused'
    expect((await one.workspace.exec(list)).stdout).toBe('name: plan\nrefused\n')
    await put(store, '/skills/system/test/SKILL.md', '---\nname: test\ndescription: Tests.\n---\nDo test.\n')
    const two = await threads.open({ ...user, threadId: 't2' })
    for (const { workspace } of [one, two])
      expect((await workspace.exec(list)).stdout).toBe('name: plan\nname: test\nrefused\n')
    expect((await two.listSkills()).skills.map(({ name }) => name)).toEqual(['plan', 'test'])
    expect(sharedCopies()).toBe(2) // of the system, and of a user without skills
    await one.close()
    expect((await two.workspace.exec(list)).stdout).toBe('name: plan\nname: test\nrefused\n')
    await two.close()
    expect(sharedCopies()).toBe(0)
  })

  it('[RE2] bring many small files to the next machine in few requests, and leave nothing of them when deleted', {
    tags: 'all',
  }, async () => {
    const machine = await bucket()
    const [first, second] = [await machine(), await machine()]
    const thread = await first.threads.open(user)
    await thread.workspace.exec('mkdir d; for f in $(seq 150); do echo $f > d/$f.txt; done')
    await thread.close()
    const packs = (): Promise<unknown[]> => Array.fromAsync(second.store.list(paths.parseMount('/.ws/packs/t1')))
    expect(await packs()).toHaveLength(1)
    const sent = watchRequests(second.client)
    const next = await second.threads.open(user)
    expect((await next.workspace.exec('cat d/* | sort -n | uniq | wc -l')).stdout.trim()).toBe('150')
    expect(sent.length).toBeLessThan(60)
    await next.close()
    await second.threads.delete('t1')
    await expect(packs()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('[RE4, RE5] end a deletion that a dead machine has begun, so that the next thread is closed at once', async () => {
    const machine = await bucket()
    const [clock, otherClock] = [clockOf(), clockOf()]
    const dying = await machine({ clock, persist: 'flush' })
    const thread = await dying.threads.open(user)
    await thread.workspace.write('/a.txt', 'base')
    await thread.flush()
    await thread.workspace.delete('/a.txt')
    dying.client.middlewareStack.add(
      (send, { commandName }) =>
        (args) =>
          commandName === 'DeleteObjectCommand' ? Promise.reject(new Error('the machine is dead')) : send(args),
      { step: 'finalizeRequest', name: 'death' },
    )
    await expect(thread.flush()).rejects.toMatchObject({ code: 'EBUSY' })

    const successor = await machine({ clock: otherClock })
    await expect(successor.threads.open(user)).rejects.toMatchObject({ code: 'EBUSY' })
    otherClock.at += 30_000
    clock.at += 25_000
    const now = vi.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() + 30_000)
    onTestFinished(() => now.mockRestore())
    const next = await successor.threads.open(user)
    const seen = (): Promise<string> => text(successor.store, '/threads/t1/a.txt')
    // the first copy goes on after the thread is open
    await expect.poll(() => seen().catch(({ code }: { readonly code: string }) => code)).toBe('ENOENT')
    await next.workspace.write('/a.txt', 'new')
    await next.close()
    expect(await seen()).toBe('new')
    await thread.close()
    expect(await seen()).toBe('new')
  })

  it('[RE5] ask the lease before each request of a push that has begun', async () => {
    const machine = await bucket()
    const [clock, otherClock] = [clockOf(), clockOf()]
    const holder = await machine({ clock, persist: 'flush' })
    const thread = await holder.threads.open(user)
    const files = 200
    await thread.workspace.exec(`for i in $(seq ${files}); do echo $i > f$i; done`)
    const successor = await machine({ clock: otherClock })
    await expect(successor.threads.open(user)).rejects.toMatchObject({ code: 'EBUSY' })
    let sent = 0
    let isHalted: Promise<void> | undefined
    const takeOver = async (): Promise<void> => {
      otherClock.at += 30_000
      await successor.threads.open(user)
      clock.at += 25_000
    }
    holder.client.middlewareStack.add(
      (send) => async (args) => {
        const { Key } = args.input as { readonly Key?: string }
        if (Key?.startsWith('.ws/') !== false) return send(args)
        sent += 1
        isHalted ??= takeOver()
        await isHalted
        return send(args)
      },
      { step: 'finalizeRequest', name: 'count' },
    )
    expect(String(await thread.flush().catch((error: unknown) => error))).toMatch(/lease|right to change/)
    await expect(thread.close()).rejects.toMatchObject({ code: 'ECLOSED' })
    // the requests that were under way wait in the hook above
    expect(sent).toBeLessThan(files / 2)
  })

  it('[RE5, RE3] send nothing after the loss of the lease, and keep what was not sent for the next open', async () => {
    const machine = await bucket()
    const [clock, otherClock] = [clockOf(), clockOf()]
    const holder = await machine({ clock, persist: 'flush' })
    const thread = await holder.threads.open(user)
    await thread.workspace.write('/log', 'base\n')
    await thread.flush()
    // While a command runs, the replica pushes nothing by itself.
    const running = await thread.workspace.spawn('echo mine > log; echo new > new.txt; echo done; exec sleep 600')
    await running.stdout[Symbol.asyncIterator]().next()
    const ending = running.wait().catch((error: unknown) => error)

    const successor = await machine({ clock: otherClock })
    await expect(successor.threads.open(user)).rejects.toMatchObject({ code: 'EBUSY' })
    otherClock.at += 30_000
    const next = await successor.threads.open(user)
    clock.at += 25_000
    let late = 0
    holder.client.middlewareStack.add(
      (send) => (args) => {
        const { Key, Prefix } = args.input as { readonly Key?: string; readonly Prefix?: string }
        if (!(Key ?? Prefix)?.startsWith('.ws/')) late += 1
        return send(args)
      },
      { step: 'finalizeRequest', name: 'count' },
    )
    await expect(thread.flush()).rejects.toMatchObject({ code: 'ECLOSED' })
    await expect(thread.workspace.write('/log', 'again\n')).rejects.toMatchObject({ code: 'ECLOSED' })
    await thread.close()
    await ending
    expect(late).toBe(0)
    holder.client.middlewareStack.remove('count')
    expect(holder.states.map(({ state }) => state)).toEqual(['lost'])

    expect(await next.workspace.readText('/log')).toBe('base\n')
    await next.workspace.write('/log', 'successor\n')
    await next.close()

    const again = await holder.threads.open(user)
    expect(await again.workspace.readText('/log')).toBe('successor\n')
    const found = await again.workspace.exec('cat log.conflict-* new.txt')
    expect(found.stdout).toBe('mine\nnew\n')
    await again.close()
    const last = await successor.threads.open(user)
    expect((await last.workspace.exec('cat log log.conflict-* new.txt')).stdout).toBe('successor\nmine\nnew\n')
  })
})
