import { createMemoryAdapter } from '@ws/adapter-memory'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { at, filesOf, put, siteOf } from './support/site.ts'

// each test starts about five sandboxes: 0.1 s of processor time
describeWith(component('bubblewrap'), 'real programs over memory', () => {
  it('[RE1] begin with the changes of the store, and end when the store has theirs', async () => {
    const store = createMemoryAdapter({
      files: { '/in.txt': 'first\n', '/lib/run.sh': { content: 'echo ran', mode: 0o755 } },
    })
    const { workspace } = await siteOf(store)
    expect((await workspace.exec('cat in.txt; ./lib/run.sh')).stdout).toBe('first\nran\n')
    await put(store, '/in.txt', 'second\n')
    await put(store, '/new/deep.txt', 'deep\n')
    await store.delete(at('/lib'), { recursive: true })
    const { stdout, exitCode } = await workspace.exec(
      'cat in.txt new/deep.txt; ls; mkdir -p empty out; echo made > out/made.txt; ln -s made.txt out/link; rm new/deep.txt',
    )
    expect([exitCode, stdout]).toEqual([0, 'second\ndeep\nin.txt\nnew\n'])
    expect(await filesOf(store)).toEqual({
      '/in.txt': 'second\n',
      '/new': 'directory',
      '/empty': 'directory',
      '/out': 'directory',
      '/out/made.txt': 'made\n',
      '/out/link': '-> made.txt',
    })
  })

  it('[RE1] git and python work as on a disk, and the store has bits and times', async () => {
    const store = createMemoryAdapter()
    const { workspace, replica } = await siteOf(store)
    const git = 'git -c user.name=a -c user.email=a@b'
    const made = await workspace.exec(
      `git init -q . && printf 'print("hi")\\n' > a.py && chmod 755 a.py && touch -d @1000000000 a.py && git add . && ${git} commit -qm one && python3 a.py`,
    )
    expect([made.stderr, made.stdout]).toEqual(['', 'hi\n'])
    const { mode, modifiedAt } = await store.stat(at('/a.py'))
    expect([mode, modifiedAt]).toEqual([0o755, 1_000_000_000_000])
    expect(replica.status().dirty).toEqual([])

    const other = await siteOf(store)
    const log = await other.workspace.exec('git log --format=%s; git status --short; git fsck && stat -c "%a %Y" a.py')
    expect(log.stdout).toBe('one\n755 1000000000\n')
    await replica.refresh?.() // git has refreshed its index there
    expect(await other.replica.verify()).toEqual(await replica.verify())
  })

  it('[RE2] with persist: flush, the store has nothing until flush, and everything after', async () => {
    const store = createMemoryAdapter({ files: { '/kept.txt': 'kept' } })
    const { workspace, replica } = await siteOf(store, { persist: 'flush' })
    await workspace.exec('echo a > a.txt; rm kept.txt')
    await workspace.write('b.txt', 'b')
    expect(await filesOf(store)).toEqual({ '/kept.txt': 'kept' })
    expect(replica.status().lastFlush).toBeUndefined()
    await workspace.write('c.txt', 'c', { durable: true })
    expect(await filesOf(store)).toEqual({ '/a.txt': 'a\n', '/b.txt': 'b', '/c.txt': 'c' })
    expect(replica.status()).toMatchObject({
      dirty: [],
      waitingBytes: 0,
      lastFlush: { changedMeanwhile: [] },
    })
  })

  it('[RE2] a background command is pushed while it runs, also what it stores through a mapping', async () => {
    const store = createMemoryAdapter({ files: { '/map.bin': '0'.repeat(4096) } })
    const { workspace } = await siteOf(store)
    const script = `
import mmap, sys
f = open('map.bin', 'r+b'); m = mmap.mmap(f.fileno(), 4096)
for line in sys.stdin:
    m[0:1] = line[0].encode(); print('stored', flush=True)
`
    await workspace.write('map.py', script)
    const running = await workspace.start(['python3', 'map.py'], { writableStdin: true })
    for (const letter of ['a', 'b', 'c']) {
      await running.writeInput(`${letter}\n`)
      await expect.poll(async () => (await filesOf(store))['/map.bin']?.[0], { timeout: 10_000 }).toBe(letter)
    }
    running.endInput()
    expect((await running.wait()).exitCode).toBe(0)
  })

  it('a rule holds as over a disk', async () => {
    const store = createMemoryAdapter({ files: { '/secret.txt': 's', '/out/a.txt': 'a' } })
    const { replica } = await siteOf(store)
    const { createWorkspace, rules } = await import('@ws/core')
    const { createBubblewrapExecutor } = await import('@ws/executor-bubblewrap')
    const workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: replica }],
      rules: [rules.deny('/workspace/secret.txt'), rules.withinOutput('/workspace/out')],
      executors: [createBubblewrapExecutor()],
    })
    const { stdout, exitCode } = await workspace.exec('cat secret.txt; echo x > new.txt; echo b > out/b.txt')
    expect([exitCode, stdout]).toEqual([0, ''])
    expect(await filesOf(store)).toEqual({
      '/secret.txt': 's',
      '/out': 'directory',
      '/out/a.txt': 'a',
      '/out/b.txt': 'b\n',
    })
    await workspace.close()
  })
})
