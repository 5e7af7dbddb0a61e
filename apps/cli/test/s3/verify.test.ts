/** @module-tag deep */
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openBucket, type Bucket } from './server.ts'

interface VerifyResult {
  readonly ok: boolean
  readonly summary: Record<string, number>
  readonly results: readonly { check: { group: string }; executor: string; store?: string; status: string }[]
}

let bucket: Bucket
beforeAll(async () => {
  bucket = await openBucket('r2')
})
afterAll(() => bucket.server.close())

it('[PC5] [PC7] [PC18] ws --s3 verify: both doors agree in the bucket, the policy holds, nothing is left in it', async () => {
  const { code, stdout, stderr } = await bucket.run('kept', ['--json', 'verify'])
  expect(stderr).toBe('')
  const { ok, summary, results } = JSON.parse(stdout) as VerifyResult
  expect(results.filter(({ status }) => status === 'failed')).toEqual([])
  expect({ ok, code }).toEqual({ ok: true, code: 0 })
  expect(new Set(results.map(({ executor, store }) => `${store} ${executor}`))).toEqual(new Set(['s3 virtual']))
  expect(summary['ok']).toBeGreaterThan(50)
  const client = bucket.server.client()
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket.server.bucket }))
  expect(Contents.map(({ Key }) => Key)).toEqual([])
})
