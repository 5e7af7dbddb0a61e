import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { createProject, ws, wsProcess } from '../ws.ts'
import { openBucket, type Bucket } from './server.ts'

let bucket: Bucket
beforeAll(async () => {
  bucket = await openBucket('r2')
})
afterAll(() => bucket.server.close())

describe('ws --s3', () => {
  const cases: [string, string[], RegExp][] = [
    ['no bucket', ['--s3', ''], /--s3: `` is not the name of a bucket; give BUCKET or BUCKET\/PREFIX/u],
    ['an invalid bucket', ['--s3', 'a?b'], /--s3: `a\?b` is not the name of a bucket/u],
    ['a prefix that climbs', ['--s3', 'bucket/../x'], /--s3: EOUTSIDE/u],
    ['a prefix with an empty name', ['--s3', 'bucket/a//b'], /--s3: `a\/\/b` is not a prefix/u],
    ['a prefix with a dot', ['--s3', 'bucket/./b'], /--s3: `\.\/b` is not a prefix/u],
    ['an endpoint that is not a URL', ['--s3', 'bucket', '--s3-endpoint', 'localhost'], /--s3-endpoint: is not a URL/u],
    [
      'credentials in the endpoint',
      ['--s3', 'bucket', '--s3-endpoint', 'http://key:s3cr3t@localhost'],
      /--s3-endpoint: .*credentials come from/u,
    ],
    ['an endpoint alone', ['--s3-endpoint', 'http://localhost'], /--s3-endpoint: means nothing without --s3/u],
    ['a region alone', ['--s3-region', 'auto'], /--s3-region: means nothing without --s3/u],
    ['two workspaces', ['--s3', 'bucket', '--root', '.'], /--root and --s3/u],
  ]

  it.each(cases)('%s: one clear line, exit code 2, and no secret', async (_, args, message) => {
    const { code, stdout, stderr } = await ws([...args, 'ls'])
    expect(stderr).toMatch(/^ws: [^\n]+\n$/u)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('s3cr3t')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  const failures: [string, string, NodeJS.ProcessEnv, RegExp][] = [
    ['a bucket that is not there', 'no-such-bucket', {}, /ENOWORKSPACE: .*does not exist; make the bucket/u],
    [
      'no credentials',
      '',
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
      /EBACKEND: .*no credentials were found; .*where the AWS SDK looks/u,
    ],
    [
      'a wrong secret',
      '',
      { AWS_SECRET_ACCESS_KEY: 's3cr3t' },
      /EBACKEND: .*does not accept the secret of the access key; check/u,
    ],
    ['no region', '', { AWS_ENDPOINT_URL_S3: '' }, /EBACKEND: .*no region is configured; give the region/u],
    [
      'an endpoint where nobody is',
      '',
      { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' },
      /EBACKEND: .*nothing answers at the endpoint; check the endpoint/u,
    ],
  ]

  it.each(failures)('%s: a typed error that helps, at both doors, and no secret', async (_, name, env, message) => {
    const at = `${name === '' ? bucket.server.bucket : name}/t1`
    // Other tests of this process have learned what the server does, by its usual address.
    const AWS_ENDPOINT_URL_S3 = bucket.server.endpoint.replace('127.0.0.1', 'localhost')
    for (const [args, exitCode] of [
      [['--json', 'ls'], 1],
      [['exec', '--', 'true'], 125],
    ] as const) {
      const { code, stdout, stderr } = await bucket.ws(['--s3', at, ...args], { env: { AWS_ENDPOINT_URL_S3, ...env } })
      const text = args[0] === '--json' ? (JSON.parse(stderr) as { error: { message: string } }).error.message : stderr
      expect(text).toMatch(message)
      expect(stderr).not.toContain('s3cr3t')
      expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
    }
  })

  it('an executor of real programs is refused by name, and says what would do', async () => {
    const { code, stderr } = await bucket.run('t1', ['--executor', 'bubblewrap', 'exec', '--', 'true'])
    expect(stderr).toMatch(/^ws: ENOEXECUTOR: .*no directory on this machine.*executor-virtual/u)
    expect(code).toBe(125)
  })
})

describe('loading', { tags: 'all' }, () => {
  /** Says on standard error which packages of the SDK are loaded. */
  const watch = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(specifier, context, next) {
      if (/^@(?:aws-sdk|smithy)/.test(specifier)) process.stderr.write('loads ' + specifier + '\\n')
      return next(specifier, context)
    } })`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` }

  it('of the AWS SDK happens for a bucket only', async () => {
    await using project = await createProject({ 'a.txt': 'a' })
    expect(await wsProcess(['--root', project.path, 'cat', 'a.txt'], { env })).toMatchObject({
      stdout: 'a',
      stderr: '',
    })
    expect(
      (await wsProcess(['--s3', `${bucket.server.bucket}/t1`, 'ls'], { env: { ...bucket.env, ...env } })).stderr,
    ).toContain('loads @aws-sdk/client-s3')
  })
})
