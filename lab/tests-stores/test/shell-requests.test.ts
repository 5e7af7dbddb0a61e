/** @module-tag all */
import { randomUUID } from 'node:crypto'

import { createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import { createWorkspace, paths } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

/** A workspace with so many files, and two in directories of their own; runs a command and counts its requests. */
async function open(count: number, at = '/') {
  const server = await sharedS3Server('r2')
  onTestFinished(() => server.close())
  const { bucket } = server
  const client = server.client({ maxAttempts: 1 })
  let [sent, running, most] = [0, 0, 0]
  client.middlewareStack.add(
    (next) => async (given) => {
      sent += 1
      running += 1
      most = Math.max(most, running)
      try {
        return await next(given)
      } finally {
        running -= 1
      }
    },
    { step: 'initialize', priority: 'low', name: 'watch' },
  )
  const dialect = await probeS3Dialect({ client, bucket })
  const adapter = await createS3Adapter({ client, bucket, dialect, prefix: `files-${randomUUID()}` })
  const put = (path: string) => adapter.write(paths.parseMount(path), Buffer.from('x\n'), { parents: true })
  for (let from = 0; from < count; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - from) }, (_, index) => put(`/a/many/f${from + index}`)))
  await Promise.all([put('/a/b/one'), put('/a/c/two')])
  const workspace = await createWorkspace({ mounts: [{ at, adapter }], executors: [createVirtualExecutor()] })
  onTestFinished(() => workspace.close())
  return async (command: string) => {
    ;[sent, most] = [0, 0]
    const { stdout, stderr, exitCode } = await workspace.exec(command)
    expect([stderr, exitCode], command).toEqual(['', 0])
    return { lines: stdout.split('\n').slice(0, -1), sent, most }
  }
}

const counts = [
  { files: 20, tags: [] },
  { files: 1000, tags: ['deep'] },
]

describeWith(s3Needs('r2'), 'the requests that commands of the virtual executor cost', () => {
  for (const { files, tags } of counts) {
    it(`[EX1] are those of one listing, and one for each file that is read: ${files} files`, {
      tags,
      timeout: 300_000,
      // the adapter knows for a moment that a directory is there: a slow machine asks again
      retry: 2,
    }, async () => {
      const run = await open(files)
      const costs: Record<string, number> = {}
      const count = async (command: string, lines: number, perFile: 0 | 1 = 0): Promise<number> => {
        const result = await run(command)
        expect(result.lines.length, command).toBe(lines)
        costs[command] = result.sent - perFile * files
        return result.most
      }
      await count('ls a/many', files)
      await count('ls -l a/many', files + 1, 1)
      await count('ls -la /', 4)
      await count('find a -name "f*"', files)
      await count('find a -type f -size -2', files + 2)
      const most = await count('grep -r x a', files + 2, 1)
      expect(most).toBeGreaterThan(16)
      expect(most).toBeLessThanOrEqual(32)
      await count('cp a/b/one a/d', 0)
      await count('cp -r a/many e', 0, 1)
      // with one listing of `/`, whose entries may be named as the system's
      expect(costs).toEqual({
        'ls a/many': 4,
        'ls -l a/many': 4,
        'ls -la /': 4,
        'find a -name "f*"': 7,
        'find a -type f -size -2': 7,
        'grep -r x a': 9,
        'cp a/b/one a/d': 18,
        'cp -r a/many e': 20,
      })
    })
  }

  it('[EX1] [PC7] are two more for each directory of new entries, and nothing is made below a file', async () => {
    const run = await open(2, '/workspace')
    const [one, three] = [await run('echo x > a/b/n1'), await run('for n in 2 3 4; do echo x > a/b/n$n; done')]
    expect(three.sent).toBe(3 * one.sent - 4)
    for (const change of [
      'echo x > F',
      'echo x >> F',
      'touch F',
      'mkdir F',
      'cp a/c/two F',
      'mv a/c/two F',
      'tee F < a/c/two',
    ])
      for (const path of ['a/b/one/x', 'a/b/one/x/y'])
        expect(
          (await run(`{ ${change.replace('F', path)}; } 2> /dev/null && echo made; [ -f a/b/one ] && [ -f a/c/two ]`))
            .lines,
          change,
        ).not.toContain('made')
    expect((await run('cat a/b/one; find a/b/one')).lines).toEqual(['x', 'a/b/one'])
  })

  it('[EX1] are those of one look for a redirection, which empties the file before it writes', {
    retry: 2,
  }, async () => {
    const run = await open(2, '/workspace')
    const costs: Record<string, number> = {}
    await run('ls a/b/one')
    for (const command of ['echo x > new', 'echo x > a/b/new', 'echo x > a/b/one', 'echo x >> a/b/one'])
      costs[command] = (await run(command)).sent
    expect(costs).toEqual({ 'echo x > new': 6, 'echo x > a/b/new': 7, 'echo x > a/b/one': 9, 'echo x >> a/b/one': 10 })
  })

  it('[EX1] are none for the names of the system, where no mount lies at `/`', async () => {
    const run = await open(2, '/workspace')
    expect(await run('echo a')).toMatchObject({ sent: 0 })
    expect(await run('ls a/many')).toMatchObject({ sent: 3 })
  })
})
