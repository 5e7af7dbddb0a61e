import { GetObjectCommand } from '@aws-sdk/client-s3'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

import { openBucket, type Bucket } from './server.ts'

for (const name of s3ServerNames) {
  // the adapter has tests of its own on each server
  const tags = name === 'r2' ? [] : ['deep']
  describeWith(s3Needs(name), `ws --s3, on ${name}`, { tags }, () => {
    let bucket: Bucket
    beforeAll(async () => {
      bucket = await openBucket(name)
    })
    afterAll(() => bucket.server.close())

    it('[PC5] [PC7] [RP3] what write puts there is listed, printed, moved, removed, and in the bucket below the prefix', async () => {
      const { run, server } = bucket
      const text = 'größe\n'
      expect(await run('threads/t1', ['write', 'docs/a b.txt'], { input: text })).toMatchObject({
        code: 0,
        stderr: '',
      })
      const object = await server
        .client()
        .send(new GetObjectCommand({ Bucket: server.bucket, Key: 'threads/t1/docs/a b.txt' }))
      expect(await object.Body?.transformToString()).toBe(text)
      expect((await run('threads/t1', ['exec', '--', 'cat "docs/a b.txt"; pwd'])).stdout).toBe(`${text}/workspace\n`)
      expect(await run('threads/t1', ['exec', '--', 'tr a-z A-Z < docs/a* > by-shell.txt'])).toMatchObject({ code: 0 })
      expect((await run('threads/t1', ['cat', 'by-shell.txt'])).stdout).toBe('GRößE\n')
      expect((await run('threads/t1', ['search', 'größ'])).stdout).toBe('/workspace/docs/a b.txt:1:größe\n')
      expect(await run('threads/t1', ['mv', 'docs', 'papers'])).toMatchObject({ code: 0, stderr: '' })
      expect((await run('threads/t1', ['ls', '-R'])).stdout).toBe(
        '/workspace/by-shell.txt\n/workspace/papers\n/workspace/papers/a b.txt\n',
      )
      expect(await run('threads/t1', ['rm', '-r', 'papers'])).toMatchObject({ code: 0, stderr: '' })
      expect((await run('threads/t1', ['ls'])).stdout).toBe('by-shell.txt\n')
    }, 180_000)

    it('[PC18] [PC19] [RP6] one prefix never shows another, nor the bucket above it', async () => {
      const { run } = bucket
      await run('siblings/t12', ['write', 'secret', 'hidden'])
      expect(await run('siblings/t1', ['ls', '-R'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect(await run('siblings/t1', ['cat', '../../t12/secret'])).toMatchObject({ code: 1, stdout: '' })
      const command = 'cat ../t12/secret /t12/secret /siblings/t12/secret; ls -A /..'
      expect((await run('siblings/t1', ['exec', '--', command])).stdout).not.toMatch(/hidden|siblings|t12/u)
    }, 120_000)

    it('a condition is the store’s to decide: of two that create a file, one wins', async () => {
      const { run } = bucket
      const create = () => run('conditions', ['write', '--if-absent', 'once', 'one'])
      const codes = (await Promise.all([create(), create()])).map(({ code, stderr }) => ({ code, stderr }))
      expect(codes.filter(({ code }) => code === 0)).toHaveLength(1)
      expect(codes.find(({ code }) => code !== 0)?.stderr).toMatch(/^ws: ECONFLICT: /u)
    })
  })
}

// seven runs of `ws`, three of them with a sandbox
describeWith([...s3Needs('r2'), component('bubblewrap'), component('git')], 'ws --s3 with --replica', () => {
  it('[RE2] runs real programs over a bucket, goes on in its copy, and takes in what others changed', {
    tags: 'all',
  }, async () => {
    const bucket = await openBucket('r2')
    const scratch = await createScratchDirectory()
    onTestFinished(async () => {
      await bucket.server.close()
      await scratch.remove()
    })
    const inCopy = (...args: readonly string[]) =>
      bucket.run('project', ['--replica', `${scratch.path}/copy`, '--owner', String(scratch.owner.uid), ...args])
    const first = await inCopy('exec', '--', 'git init -q . && echo one > a.txt && git add a.txt && git status --short')
    expect(first).toMatchObject({ code: 0, stdout: 'A  a.txt\n' })
    // without the copy: the bucket has it all
    expect((await bucket.run('project', ['cat', 'a.txt'])).stdout).toBe('one\n')
    expect(await bucket.run('project', ['write', 'b.txt'], { input: 'two\n' })).toMatchObject({ code: 0 })
    expect((await inCopy('exec', '--', 'cat b.txt; git status --short')).stdout).toBe('two\nA  a.txt\n?? b.txt\n')
    expect((await inCopy('ls')).stdout).toBe('.git\na.txt\nb.txt\n')

    const threadExec = ['--replica', `${scratch.path}/threads`, 'thread', 'exec', 't1', '--user', 'u1']
    const inThread = await bucket.run('threads', [...threadExec, '--', 'git init -q . && echo x > made.txt'])
    expect(inThread).toMatchObject({ code: 0, stdout: '' })
    expect((await bucket.run('threads', ['thread', 'ls', 't1', '--user', 'u1'])).stdout).toContain('made.txt')
  })

  it('[PM1] refuses a copy of nothing', async () => {
    const bucket = await openBucket('r2')
    onTestFinished(() => bucket.server.close())
    const refused = async (...args: readonly string[]) => (await bucket.ws(args)).stderr
    expect(await refused('--root', '.', '--replica', 'copy', 'ls')).toMatch(/--replica: means nothing without --s3/u)
    expect(await refused('--s3', 'bucket', '--replica', '', 'ls')).toMatch(
      /--replica: .* is not the name of a directory/u,
    )
    expect(await refused('--s3', 'bucket', '--replica', 'copy', 'verify')).toMatch(
      /verify: checks a bucket .*; leave the copy out/u,
    )
  })
})
