/** @module-tag all */
import { GetObjectCommand } from '@aws-sdk/client-s3'
import type { RcloneAdapterOptions } from '@ws/adapter-rclone'
import { component, createScratchDirectory, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { mountNeeds } from './bucket.ts'

const needs = [...mountNeeds, component('bubblewrap'), component('proot')]
const repository = fileURLToPath(new URL('../../../../', import.meta.url))
const script = 'lab/tests-stores/test/rclone/as-user.ts'

/**
 * In a mount namespace of its own: `/dev/fuse` open to all users, as distributions have it, and the repository at a
 * path that every user can reach.
 */
const asUser = `
  mkdir "$1/dev" "$1/repository"
  mount -t tmpfs -o mode=755 none "$1/dev"
  mknod -m 666 "$1/dev/fuse" c 10 229
  mount --bind "$1/dev/fuse" /dev/fuse
  mount --bind "$2" "$1/repository"
  cd "$1/repository"
  exec setpriv --reuid "$3" --regid "$4" --clear-groups "$5" --conditions=@ws/source "$1/repository/$6"
`

describeWith(needs, 'an ordinary user', () => {
  // an ordinary user runs all other tests so
  it.runIf(process.getuid?.() === 0)('[RP1, RP2] mounts, works by both doors, and flushes', async () => {
    await using server = await sharedS3Server('ceph')
    await using scratch = await createScratchDirectory({ prefix: 'ws-as-user-' })
    const { uid, gid } = ordinaryOwner()
    const { endpoint, region, credentials, bucket } = server
    const options: RcloneAdapterOptions = {
      endpoint,
      region,
      credentials,
      provider: 'Ceph',
      bucket,
      prefix: 'threads/t1',
      directory: `${scratch.path}/state`,
      timeouts: { writeBack: 100 },
    }
    const node = process.execPath.replace(repository, `${scratch.path}/repository/`)
    const args = [scratch.path, repository, String(uid), String(gid), node, script]
    const child = spawn('unshare', ['--mount', 'sh', '-e', '-c', asUser, 'sh', ...args], {
      env: { PATH: process.env['PATH'], HOME: scratch.path },
    })
    child.stdin.end(JSON.stringify(options))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect(stderr).toBe('')
    const outputs = ['bubblewrap', 'proot'].map((name) => `by the API for ${name}\n${uid}\n`)
    expect(JSON.parse(stdout)).toEqual({ uid, outputs })

    const client = server.client()
    for (const name of ['bubblewrap', 'proot']) {
      for (const [file, content] of [
        ['api.txt', `by the API for ${name}`],
        ['command.txt', `by a command in ${name}\n`],
      ]) {
        const Key = `threads/t1/${name}/${file}`
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }))
        expect(await Body?.transformToString(), Key).toBe(content)
      }
    }
  })
})
