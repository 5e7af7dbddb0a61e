/** @module-tag all */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import {
  component,
  createScratchDirectory,
  describeWith,
  ordinaryOwner,
  type ScratchDirectory,
} from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { openBucket, type Bucket } from '../s3/server.ts'

const needs = (['radosgw', 'rclone', 'fuse', 'bubblewrap', 'proot'] as const).map(component)
const { uid, gid } = ordinaryOwner()
const owner = ['--owner', `${uid}:${gid}`]

describeWith(needs, 'ws on a bucket that rclone mounts', () => {
  let bucket: Bucket
  let scratch: ScratchDirectory
  let config: string
  beforeAll(async () => {
    bucket = await openBucket('ceph')
    scratch = await createScratchDirectory({ prefix: 'ws-cli-' })
    config = join(scratch.path, 'ws.config.json')
    const rclone = { bucket: bucket.server.bucket, prefix: 'threads/t1', directory: 'cache' }
    await writeFile(config, JSON.stringify({ mounts: [{ at: '/', rclone }] }))
  })
  afterAll(async () => {
    await bucket.server.close()
    await scratch.remove()
  })

  it('writes, runs real commands, and has it all in the bucket when it ends', async () => {
    const run = (...args: string[]) => bucket.ws(['--config', config, ...owner, ...args])
    expect(await run('write', 'names.txt', 'b\na\n')).toMatchObject({ code: 0 })
    const sorted = await run('exec', '--', 'sort /names.txt > /sorted.txt; cat /sorted.txt; ls -A /')
    expect(sorted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^a\nb\n/u) })
    expect(await run('flush')).toMatchObject({ code: 0, stderr: '' })
    const client = bucket.server.client()
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket.server.bucket }))
    expect(Contents.map(({ Key }) => Key)).toEqual(['threads/t1/names.txt', 'threads/t1/sorted.txt'])
    const { Body } = await client.send(
      new GetObjectCommand({ Bucket: bucket.server.bucket, Key: 'threads/t1/sorted.txt' }),
    )
    expect(await Body?.transformToString()).toBe('a\nb\n')
  }, 120_000)

  it('says what is wrong with where the files are', async () => {
    expect((await bucket.ws(['--rclone', 'some-bucket', '--root', '/tmp', 'ls'])).stderr).toContain(
      'both name the workspace',
    )
    const none = await bucket.ws(['--config', config, 'ls'], { env: { AWS_SECRET_ACCESS_KEY: '' } })
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there are no credentials') })
  })
})
