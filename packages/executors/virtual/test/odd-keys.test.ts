import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import type { Entry, MountPath, AdapterOptions } from '@ws/core/adapter'
import { expect, it } from 'vitest'

import { sharedExecutor } from './support.ts'

const names = ['..', '.', '(empty)', 'n'.repeat(300)]

/** A store with entries that no path can name, as a bucket lists keys with such segments. */
function oddStore() {
  const inner = createMemoryAdapter({ files: { '/d/a.txt': 'needle\n', '/d/s/b.txt': 'needle\n' } })
  const entries = names.flatMap((name): Entry[] =>
    (['file', 'directory'] as const).map((type) => ({
      path: `/d/${name}` as MountPath,
      name,
      type,
      unreachable: true,
    })),
  )
  async function* list(path: MountPath, options?: AdapterOptions.List) {
    if (path === '/d' || (path === '/' && options?.recursive === true)) yield* entries
    yield* inner.list(path, options)
  }
  return new Proxy(inner, {
    get(_, name) {
      const found: unknown = name === 'list' ? list : Reflect.get(inner, name)
      return typeof found === 'function' ? (found.bind(inner) as unknown) : found
    },
  })
}

it('[EX1] commands list, search and pack a directory without the entries that no path can name, and name those once', async () => {
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: oddStore }],
    executors: [sharedExecutor],
  })
  const run = async (command: string) => {
    const { exitCode, stdout, stderr } = await workspace.exec(command, { timeout: 10_000 })
    const [said = '', ...more] = stderr.trim().split('\n')
    for (const name of names) expect(said.split(JSON.stringify(`/d/${name}`)), command).toHaveLength(2)
    expect(more, command).toEqual([])
    return [exitCode, stdout]
  }
  expect(await run('ls /d; ls -A /d | wc -l')).toEqual([0, 'a.txt\ns\n2\n'])
  expect(await run('find /d -type f; cd /d; echo *')).toEqual([0, '/d/a.txt\n/d/s/b.txt\na.txt s\n'])
  expect(await run('grep -rl needle d')).toEqual([0, 'd/a.txt\nd/s/b.txt\n'])
  expect(await run('tar cf d.tar d; tar tf d.tar')).toEqual([0, 'd/\nd/a.txt\nd/s/\nd/s/b.txt\n'])
  expect((await workspace.exec('ls /d/s')).stderr).toBe('')
})
