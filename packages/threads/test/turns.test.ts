import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { GetObjectCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

const turns = 40
const ttl = 6000

// two processes take many turns
describe('two machines that take turns on a thread', { tags: ['deep'] }, () => {
  for (const name of ['r2', 'ceph'] as const) {
    describeWith(s3Needs(name), `on ${name}`, () => {
      it('[TH2] lose no edit, however often they hand it over', async () => {
        const { log, count } = await takeTurns(name, turns)
        expect(log).toEqual(numbers(turns))
        expect(count).toBe(`${turns}\n`)
      }, 900_000)
    })
  }
})

const numbers = (length: number): string[] => Array.from({ length }, (_, index) => String(index))

async function takeTurns(name: 'r2' | 'ceph', until: number) {
  const server = await sharedS3Server(name)
  onTestFinished(() => server.close())
  const { endpoint, region, credentials, bucket } = server
  const machines = ([0, 1] as const).map((rest) => {
    const task = { connection: { endpoint, region, credentials, bucket }, rest, until, ttl }
    const child = spawn(
      process.execPath,
      ['--conditions=@ws/source', join(import.meta.dirname, 'take-turns.ts'), JSON.stringify(task)],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    return once(child, 'exit')
  })
  expect(await Promise.all(machines)).toEqual([
    [0, null],
    [0, null],
  ])
  const client = server.client()
  const text = async (key: string): Promise<string> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `threads/t1/${key}` }))
    return (await Body?.transformToString()) ?? ''
  }
  return { log: (await text('log')).split('\n').slice(0, -1), count: await text('count') }
}
