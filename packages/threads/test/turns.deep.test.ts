import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { GetObjectCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

const isDeep = process.env['WS_DEEP'] === '1'
const ttl = 3000

// the deep tier: two processes take many turns
describe.runIf(isDeep)('two machines that take turns on a thread', () => {
  for (const name of ['r2', 'ceph'] as const) {
    describeWith(s3Needs(name), `on ${name}`, () => {
      it('[TH2] lose no edit in 100 turns', async () => {
        const { log, count } = await takeTurns(name, 100, async () => {})
        expect(log).toEqual(numbers(100))
        expect(count).toBe('100\n')
      }, 240_000)

      it('[TH2] lose no edit when one is killed, or stopped for longer than its lease', async () => {
        const { log, count } = await takeTurns(name, 60, async (machine) => {
          for (let round = 0; round < 3; round++) {
            await machine.afterTurn()
            await machine.restart()
            await machine.afterTurn()
            machine.child.kill('SIGSTOP')
            await delay(2 * ttl)
            machine.child.kill('SIGCONT')
          }
        })
        expect(log).toEqual(numbers(60))
        expect(count).toBe('60\n')
      }, 240_000)
    })
  }
})

const numbers = (length: number): string[] => Array.from({ length }, (_, index) => String(index))

class Machine {
  child: ChildProcess
  readonly #start: () => ChildProcess

  constructor(start: () => ChildProcess) {
    this.#start = start
    this.child = start()
  }

  async afterTurn(): Promise<void> {
    if (this.child.stdout !== null && this.child.exitCode === null)
      await Promise.race([once(this.child.stdout, 'data'), once(this.child, 'exit')])
  }

  /** Kills it in the middle of something, and starts it anew. */
  async restart(): Promise<void> {
    this.child.kill('SIGKILL')
    this.child = this.#start()
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null) await once(this.child, 'exit')
    expect(this.child.exitCode).toBe(0)
  }
}

async function takeTurns(name: 'r2' | 'ceph', until: number, disturb: (machine: Machine) => Promise<void>) {
  const server = await sharedS3Server(name)
  onTestFinished(() => server.close())
  const { endpoint, region, credentials, bucket } = server
  const machines = ([0, 1] as const).map((rest) => {
    const task = { connection: { endpoint, region, credentials, bucket }, rest, until, ttl }
    return new Machine(() => {
      const child = spawn(
        process.execPath,
        ['--conditions=@ws/source', join(import.meta.dirname, 'take-turns.ts'), JSON.stringify(task)],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    })
  })
  const [first] = machines
  if (first !== undefined) await disturb(first)
  await Promise.all(machines.map((machine) => machine.ended()))
  const client = server.client()
  const text = async (key: string): Promise<string> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `threads/t1/${key}` }))
    return (await Body?.transformToString()) ?? ''
  }
  return { log: (await text('log')).split('\n').slice(0, -1), count: await text('count') }
}
