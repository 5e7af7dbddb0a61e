import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openBucket, type Bucket } from './server.ts'

let bucket: Bucket
beforeAll(async () => {
  bucket = await openBucket('r2')
})
afterAll(() => bucket.server.close())

describe('the config file', () => {
  it('[PM1] [RP1] mounts parts of buckets; the rules hold at both doors, and credentials come by the names of variables', async () => {
    const { server, run, ws } = bucket
    const { bucket: name, endpoint, credentials } = server
    await run('config/skills', ['write', 'SKILL.md', '# Skill'])
    await using scratch = await createScratchDirectory()
    const credentialsFrom = { accessKeyId: 'MY_KEY_ID', secretAccessKey: 'MY_SECRET' }
    const config = {
      mounts: [
        { at: '/', s3: { bucket: name, prefix: 'config/t1', symlinks: 'rclonelink' } },
        {
          at: '/skills',
          access: 'read-only',
          r2: { bucket: name, prefix: 'config/skills', endpoint, credentialsFrom },
        },
      ],
      rules: [{ rule: 'deny', path: '/.env', name: 'no-secrets' }],
    }
    const file = join(scratch.path, 'ws.config.json')
    await writeFile(file, JSON.stringify(config))
    const env = { MY_KEY_ID: credentials.accessKeyId, MY_SECRET: credentials.secretAccessKey }
    const at = async (...args: string[]) => await ws(['--config', file, ...args], { env })

    const command = 'cat skills/SKILL.md; ln -s skills/SKILL.md link; echo changed > skills/SKILL.md; echo X=1 > .env'
    const ran = await at('exec', '--', command)
    expect(ran.stdout).toBe('# Skill')
    expect(ran.stderr).toMatch(/read-only.*\n?.*denied/isu)
    expect((await at('ls', '-lR')).stdout).toMatch(
      / \/link -> skills\/SKILL\.md\n.* \/skills\n.* \/skills\/SKILL\.md\n$/u,
    )
    expect((await at('cat', '/link')).stdout).toBe('# Skill')
    expect((await at('write', '/skills/new', 'x')).stderr).toMatch(/^ws: EROFS: .*`\/skills\/new`/u)
    expect((await at('write', '/.env', 'x')).stderr).toContain('(rule `no-secrets`)')
    expect(JSON.parse((await at('--json', 'explain', 'read', '/.env')).stdout)).toMatchObject({
      effect: 'deny',
      rule: 'no-secrets',
      executor: 'virtual',
      enforcedBy: { exec: 'interpreter' },
    })
    expect(await at('doctor')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Commands would run with virtual.') as string,
    })
    // the options name another part of the bucket as the root
    expect((await run('config/other', ['--config', file, 'ls'], { env })).stdout).toBe('skills\n')
  }, 180_000)

  const cases: [string, object, RegExp][] = [
    [
      'two storages',
      { root: '.', s3: { bucket: 'bucket' } },
      /mounts\[0\] must have exactly one of `root`, `s3`, `r2`, `rclone`; got /u,
    ],
    ['no storage', {}, /mounts\[0\] must have exactly one of `root`, `s3`, `r2`, `rclone`; got /u],
    ['an unknown key', { s3: { bucket: 'bucket', secretAccessKey: 's3cr3t' } }, /mounts\[0\]\.s3: unknown key/u],
    ['a bad bucket', { s3: { bucket: 'a/b' } }, /mounts\[0\]\.s3\.bucket: `a\/b` is not the name of a bucket/u],
    ['a climbing prefix', { s3: { bucket: 'bucket', prefix: 'a/../..' } }, /mounts\[0\]\.s3\.prefix: /u],
    ['a bad endpoint', { r2: { bucket: 'bucket', endpoint: 'r2' } }, /mounts\[0\]\.r2\.endpoint: is not a URL/u],
    ['an R2 of nobody', { r2: { bucket: 'bucket' } }, /mounts\[0\]\.r2 must have `accountId` or `endpoint`/u],
    [
      'a secret where a name belongs',
      { s3: { bucket: 'bucket', credentialsFrom: { accessKeyId: 'K', secretAccessKey: 's3cr3t/+' } } },
      /credentialsFrom\.secretAccessKey must be the name of an environment variable/u,
    ],
    [
      'a secret that could be a name',
      { s3: { bucket: 'bucket', credentialsFrom: { accessKeyId: 's3cr3t', secretAccessKey: 's3cr3t' } } },
      /credentialsFrom\.accessKeyId: the environment has no such variable/u,
    ],
  ]

  it.each(cases)('%s: names the place, exit code 2, and repeats no secret', async (_, mount, message) => {
    await using scratch = await createScratchDirectory()
    const file = join(scratch.path, 'ws.config.json')
    await writeFile(file, JSON.stringify({ mounts: [{ at: '/', ...mount }] }))
    const { code, stdout, stderr } = await bucket.ws(['--json', '--config', file, 'ls'])
    expect((JSON.parse(stderr) as { error: { message: string } }).error.message).toMatch(message)
    expect(stderr).not.toContain('s3cr3t')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
