import { setTimeout as delay } from 'node:timers/promises'

import { GetObjectCommand } from '@aws-sdk/client-s3'
import { component, describeWith } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { Machine, type Task } from './machines.ts'

const turns = 60
/** Milliseconds. Pauses, and the limits of attempts, are shortened as much as this is less than the default. */
const ttl = 4500
const scaled = (ofDefault: number): number => (ofDefault * ttl) / 30_000

const stores = [
  { name: 'r2', server: 'r2', kind: 'api', needs: s3Needs('r2') },
  {
    name: 'a mount',
    server: 'ceph',
    kind: 'mount',
    needs: [component('radosgw'), component('rclone'), component('fuse')],
  },
] as const

describe('two machines that take turns on a thread', { tags: ['deep'] }, () => {
  for (const { name, server: serverName, kind, needs } of stores) {
    describeWith(needs, `on ${name}`, () => {
      const open = async (task: Pick<Task, 'other' | 'until'>) => {
        const server = await sharedS3Server(serverName)
        onTestFinished(() => server.close())
        const make = (one: string) => Machine.open(server, { ...task, ttl, name: one }, kind)
        return { server, machines: [await make('machine-1'), await make('machine-2')] as const }
      }

      it(`[TH2] lose no edit in ${turns} turns`, { timeout: 600_000 }, async () => {
        const { server, machines } = await open({ other: 'takes its turns', until: turns })
        const start = performance.now()
        for (const machine of machines) machine.start()
        await Promise.all(machines.map((machine) => machine.end()))
        const result = await report(server, machines)
        console.log(name, Math.round(performance.now() - start), JSON.stringify(result.figures))
        expect(result).toMatchObject({ lines: turns, missing: [], lockedOut: 0, late: [], afterLoss: [] })
      })

      it('[TH2] lose no edit in kills, stops, and while the store hangs or fails', { timeout: 900_000 }, async () => {
        const { server, machines } = await open({ other: 'may be away', until: Number.MAX_SAFE_INTEGER })
        const start = performance.now()
        /** Milliseconds from the end of a fault to the next edit. */
        const backAfter: number[] = []
        for (const machine of machines) machine.start()
        await Promise.all(machines.map((machine) => machine.next('edited')))
        // shorter than a lease, and longer
        for (const [round, ofDefault] of [12_000, 40_000].entries()) {
          const [machine, other] = (round === 1 ? machines.toReversed() : machines) as [Machine, Machine]
          const length = scaled(ofDefault)
          await pause(machine, async () => {
            machine.signal('SIGKILL')
            await machine.end()
            machine.start()
          })
          await pause(machine, async () => {
            machine.signal('SIGSTOP')
            await delay(scaled(40_000))
            machine.signal('SIGCONT')
          })
          // the other one goes on, and takes over
          await pause(machine, async () => {
            machine.proxy.setFaults(() => ({ kind: 'hang', when: 'before' }))
            await delay(length)
            machine.proxy.setFaults(undefined)
          })
          // no other machine takes over: only its own lease can keep it out afterwards
          for (const fault of ['hang', 'fail'] as const) {
            await pause(machine, async () => {
              other.signal('SIGSTOP')
              machine.proxy.setFaults(({ index }) =>
                fault === 'hang'
                  ? { kind: fault, when: index % 2 === 0 ? 'before' : 'after' }
                  : { kind: 'status', status: 503, acted: index % 2 === 0 },
              )
              await delay(length)
              machine.proxy.setFaults(undefined)
              const start = performance.now()
              await machine.next('edited')
              backAfter.push(Math.round(performance.now() - start))
              other.signal('SIGCONT')
            })
          }
        }
        await Promise.all(machines.map((machine) => machine.next('edited')))
        for (const machine of machines) machine.signal('SIGKILL')
        await Promise.all(machines.map((machine) => machine.end()))
        const result = await report(server, machines)
        console.log(name, Math.round(performance.now() - start), JSON.stringify({ ...result.figures, backAfter }))
        // rclone goes on with uploads of what was written before
        const afterLoss = result.afterLoss.filter((one) => kind === 'api' || !one.startsWith('PutObject'))
        expect({ ...result, afterLoss }).toMatchObject({ missing: [], late: [], afterLoss: [] })
        expect(result.lockedOut).toBeLessThanOrEqual(5000)
      })
    })
  }
})

/** Begins while the machine has the thread open; ends when both have edited again. */
async function pause(machine: Machine, work: () => Promise<void>): Promise<void> {
  await machine.next('open')
  await work()
  await machine.next('edited')
}

/** Compares what the machines know with the bucket, and with what came over their ways to it. */
async function report(server: S3Server, machines: readonly Machine[]) {
  const { Body } = await server.client().send(new GetObjectCommand({ Bucket: server.bucket, Key: 'threads/t1/log' }))
  const log = new Set(((await Body?.transformToString()) ?? '').split('\n').slice(0, -1))
  const events = machines.flatMap(({ name, events: all }) => all.map((event) => ({ ...event, name })))
  const edited = events.flatMap((event) => (event.type === 'edited' ? [event.token] : []))
  const missing = edited.filter((token) => !log.has(token))
  const lockedOut = Math.max(0, ...events.map((event) => (event.type === 'locked-out' ? event.ms : 0)))
  const owns = events.filter(({ type }) => type === 'acquired' || type === 'lost')
  owns.sort((left, right) => left.at - right.at)
  /** Changes that came to the store by the way of a machine, at a time that is wrong for it. */
  const changesAt = (isWrong: (machine: string, at: number) => boolean): string[] =>
    machines.flatMap(({ name, proxy }) =>
      proxy.requests
        .filter(({ method, key, startedAt }) => {
          const isChange = method !== 'GET' && method !== 'HEAD' && key.startsWith('threads/')
          return isChange && isWrong(name, performance.timeOrigin + startedAt)
        })
        .map(({ operation, key, serverStatus }) => `${operation} ${key} ${serverStatus}`),
    )
  // while the other one has the thread
  const late = changesAt(
    (machine, at) => owns.findLast((one) => one.type === 'acquired' && one.at <= at)?.name !== machine,
  )
  // after its own loss, until it has the thread again
  const afterLoss = changesAt(
    (machine, at) => owns.findLast((one) => one.name === machine && one.at <= at)?.type === 'lost',
  )
  const failures: Record<string, number> = {}
  for (const event of events) if (event.type === 'failed') failures[event.code] = (failures[event.code] ?? 0) + 1
  const figures = {
    lines: log.size,
    edited: edited.length,
    missing: missing.length,
    lost: events.filter(({ type }) => type === 'lost').length,
    lockedOut,
    late,
    afterLoss,
    failures,
    requests: machines.map(({ proxy }) => proxy.requests.length),
  }
  return { lines: log.size, missing, lockedOut, late, afterLoss, figures }
}
