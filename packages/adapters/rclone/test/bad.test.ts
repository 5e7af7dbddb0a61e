/** @module-tag all */
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { DeleteBucketCommand } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'

import { type RcloneAdapterOptions, createRcloneAdapter } from '../src/index.ts'
import {
  at,
  bytes,
  failureOf,
  mountNeeds,
  mountsBelow,
  openSite,
  openStore,
  optionsFor,
  processesNaming,
  scratch,
  write,
} from './support.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

/** The error of making an adapter; nothing may be left of it. */
async function refusal(options: RcloneAdapterOptions) {
  const error = await failureOf(createRcloneAdapter(options))
  const { directory = '' } = options
  expect(mountsBelow(directory)).toEqual([])
  // the kernel takes a moment to end a killed process of many threads
  await expect.poll(() => processesNaming(directory), { timeout: 5_000 }).toEqual([])
  const { accessKeyId = '', secretAccessKey = '' } = options.credentials ?? {}
  for (const secret of [directory, options.bucket, accessKeyId, secretAccessKey, options.endpoint ?? '']) {
    if (secret.length > 3) expect(error.message).not.toContain(secret)
  }
  expect(error.remedy).toBeTruthy()
  return error
}

describe('options that mean nothing', () => {
  const s3 = { endpoint: 'http://127.0.0.1:1', credentials: { accessKeyId: 'id', secretAccessKey: 'topsecret' } }
  const wrong: Record<string, unknown> = {
    'no options': undefined,
    'no store': { bucket: 'b' },
    'two stores': { ...s3, remote: { type: 'local' }, bucket: 'b' },
    'no bucket': s3,
    'no endpoint': { credentials: s3.credentials, bucket: 'b' },
    'no credentials': { endpoint: s3.endpoint, bucket: 'b' },
    'a bucket with a line break': { ...s3, bucket: 'b\n[store]' },
    'a prefix with ..': { ...s3, bucket: 'b', prefix: 'threads/../x' },
    'a prefix that the cache changes': { ...s3, bucket: 'b', prefix: 'threads/a␊b' },
    'a relative directory': { ...s3, bucket: 'b', directory: 'cache' },
    'a secret with a line break': {
      ...s3,
      credentials: { accessKeyId: 'id', secretAccessKey: 'top\nsecret' },
      bucket: 'b',
    },
    'an endpoint that is no URL': { ...s3, endpoint: 'localhost', bucket: 'b' },
    'an owner that is root': { ...s3, bucket: 'b', owner: { uid: 0, gid: 0 } },
    'a negative time': { ...s3, bucket: 'b', timeouts: { writeBack: -1 } },
    'a remote without a type': { remote: { endpoint: 'x' }, bucket: 'b' },
  }
  for (const [what, options] of Object.entries(wrong)) {
    it(`${what} is refused before anything starts`, async () => {
      const error = await failureOf(createRcloneAdapter(options as RcloneAdapterOptions))
      expect(['EINVAL', 'EOUTSIDE']).toContain(error.code)
      expect(error.message).not.toMatch(/top\s*secret/)
    })
  }
})

it('[RU7] the earlier name of a timeout is refused with its new name', async () => {
  for (const [old, now] of [
    ['writeBackDelay', 'writeBack'],
    ['directoryCacheTime', 'directoryCache'],
    ['attributeCacheTime', 'attributeCache'],
    ['operationTimeout', 'operation'],
    ['flushTimeout', 'flush'],
    ['startTimeout', 'start'],
  ] as const) {
    const { message } = await failureOf(createRcloneAdapter({ bucket: 'b', [old]: 1 }))
    expect(message).toContain(`\`${old}\` is not an option any more; use \`timeouts.${now}\``)
  }
})

describeWith(mountNeeds, 'a machine or a store that does not do', () => {
  const offline = async (more: Partial<RcloneAdapterOptions> = {}): Promise<RcloneAdapterOptions> => ({
    endpoint: 'http://127.0.0.1:1',
    credentials: { accessKeyId: 'AKIDNOBODY', secretAccessKey: 'nobodysecret' },
    bucket: 'nobody-bucket',
    directory: await scratch(),
    ...more,
  })

  it('rclone that is missing', async () => {
    const error = await refusal(await offline({ program: '/nonexistent/rclone' }))
    expect(error).toMatchObject({ code: 'ENOTSUP' })
    expect(error.remedy).toContain('apt-get install rclone')
  })

  it('rclone that is too old, or is something else', async () => {
    const directory = await scratch()
    for (const [said, reason] of [
      ['rclone v1.53.3-DEV', '1.53.3 is too old'],
      ['something else', 'does not report its version'],
    ] as const) {
      const program = join(directory, 'rclone')
      await writeFile(program, `#!/bin/sh\necho '${said}'\n`)
      await chmod(program, 0o755)
      const error = await refusal(await offline({ program }))
      expect(error.code).toBe('ENOTSUP')
      expect(error.message).toContain(reason)
    }
  })

  it('a store that cannot be reached', async () => {
    expect(await refusal(await offline())).toMatchObject({ code: 'EBACKEND', reason: 'the store cannot be reached' })
  })

  it('wrong credentials', async () => {
    const store = await openStore()
    const options = optionsFor(store, await scratch())
    for (const credentials of [
      { accessKeyId: 'AKIDNOBODY', secretAccessKey: 'nobodysecret' },
      { ...store.server.credentials, secretAccessKey: 'nobodysecret' },
    ]) {
      const error = await refusal({ ...options, credentials })
      expect(error).toMatchObject({ code: 'EBACKEND' })
      expect(error.remedy).toContain('credentials')
    }
  })

  it('a bucket that does not exist', async () => {
    const store = await openStore()
    const error = await refusal({ ...optionsFor(store, await scratch()), bucket: 'no-such-bucket-here' })
    expect(error).toMatchObject({ code: 'EBACKEND', reason: 'the bucket does not exist' })
  })

  it('a bucket that disappears: what is written stays, and the flush says why', async () => {
    const { adapter, store } = await openSite()
    await adapter.flush()
    await store.server.client().send(new DeleteBucketCommand({ Bucket: store.bucket }))
    await write(adapter, '/a', 'x')
    const error = await failureOf(adapter.flush())
    expect(error).toMatchObject({ code: 'EBACKEND' })
    expect(error.message).toContain('the bucket does not exist')
    expect((await adapter.status()).dirtyFiles).toBe(1)
  })

  it('a mount point that is not empty, or is no directory', async () => {
    const mountPoint = await scratch()
    await writeFile(join(mountPoint, 'file'), 'x')
    expect((await refusal(await offline({ mountPoint }))).code).toBe('ENOTEMPTY')
    expect((await refusal(await offline({ mountPoint: join(mountPoint, 'file') }))).code).toBe('ENOTDIR')
    expect(await readdir(mountPoint)).toEqual(['file'])
  })

  it.runIf(isRoot)('a cache directory that is read-only', async () => {
    const directory = await tmpfs('ro')
    expect((await refusal(await offline({ directory }))).code).toBe('EROFS')
  })

  it.runIf(isRoot)('a full disk: before the start, and while files are written', async () => {
    const full = await tmpfs('size=256k')
    await writeFile(join(full, 'fill'), Buffer.alloc(1_000_000)).catch(() => undefined)
    expect((await refusal(await offline({ directory: full }))).code).toBe('ENOSPC')

    const small = await tmpfs('size=4m')
    const { adapter } = await openSite({ directory: small })
    await write(adapter, '/before', 'kept')
    const error = await failureOf(adapter.write(at('/large'), Buffer.alloc(8_000_000, 1)))
    expect(['ENOSPC', 'EIO']).toContain(error.code)
    expect((await adapter.read(at('/before'))).bytes).toEqual(bytes('kept'))
    expect((await failureOf(adapter.read(at('/large')))).code).toBe('ENOENT')
    await adapter.flush()
  })

  it.runIf(isRoot)('a machine without FUSE', async () => {
    const program = join(await scratch(), 'rclone')
    // in a mount namespace of its own, where /dev/fuse is a file
    await writeFile(
      program,
      `#!/bin/sh\n[ "$1" = version ] && exec rclone version\nexec unshare -m sh -c 'mount --bind /dev/null /dev/fuse; exec rclone "$@"' sh "$@"\n`,
    )
    await chmod(program, 0o755)
    const store = await openStore()
    const error = await refusal({ ...optionsFor(store, await scratch()), program })
    expect(error).toMatchObject({ code: 'ENOTSUP' })
    expect(error.remedy).toContain('fuse')
  })

  it('an abort during the start', async () => {
    const store = await openStore()
    const directory = await scratch()
    const reason = new Error('enough')
    const made = createRcloneAdapter({ ...optionsFor(store, directory), signal: abortedIn(50, reason) })
    await expect(made).rejects.toBe(reason)
    expect(mountsBelow(directory)).toEqual([])
    expect(await processesNaming(directory)).toEqual([])
  })
})

function abortedIn(ms: number, reason: Error): AbortSignal {
  const controller = new AbortController()
  setTimeout(() => controller.abort(reason), ms)
  return controller.signal
}

const mounted: string[] = []
afterEach(async () => {
  for (const directory of mounted.splice(0)) await run('umount', ['-l', directory])
})

/** A disk of its own. */
async function tmpfs(options: string): Promise<string> {
  const directory = join(await scratch(), 'disk')
  await mkdir(directory)
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory])
  mounted.push(directory)
  onTestFinished(() => undefined)
  return directory
}
