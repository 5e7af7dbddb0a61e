/** @module-tag all */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { at, failureOf, mountNeeds, open, openSite, readText, scratch, write } from './support.ts'

/** Commands that make files, and commands that rename them before their upload. */
const variants: readonly (readonly [string, string])[] = [
  ['mkdir a; echo x > a/f', 'mv a b'],
  ['mkdir a; echo x > a/f', 'mv a b; rm -r b'],
  ['mkdir a; echo x > a/f', 'mv a b; mv b/f g'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; rm b/f'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b c; rm c/f'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b a; rm a/f'],
  ['mkdir a; echo x > a/f', 'mv a b; rm b/f; echo new > b/f'],
  ['mkdir a; echo x > a/f', 'mv a b; echo new > b/f'],
  ['mkdir -p a/s; echo x > a/s/f; echo y > a/h', 'mv a b; rm -r b/s'],
  ['mkdir -p a/s; echo x > a/s/f; echo y > a/h', 'mv a/s t; rm t/f; mv a b; mv b/h t/h'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b/f b/g; mv b/h k'],
  ['mkdir a; echo x > a/f', 'mv a b; mkdir a; echo z > a/h; rm b/f'],
  ['mkdir a; echo x > a/f; echo o > g', 'mv a b; mv b/f g'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b/f g; mv g b/f; mv b/h g'],
  ['mkdir a; echo x > a/f', 'mv a b; rm -r b; mkdir b; echo new > b/f'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; rm b/f; echo new > b/t; mv b/t b/f'],
  ['mkdir a; echo x > a/f', 'mv a b; mv b/f g; rm g'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; rm b/f; mv b/h b/f'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b/f b/g; mv b/h b/f'],
  ['mkdir a; echo x > a/f; echo y > a/h', 'mv a b; mv b/f g; rm g; mv b/h g'],
  ['mkdir a; echo x > a/f', 'mv a b; echo new > b/f; mv b/f g'],
  ['mkdir -p a/empty; echo x > a/f', 'mv a b; echo new > b/f'],
  ['mkdir a; for n in 1 2 3 4 5 6; do echo $n > a/$n; done', 'mv a b; mkdir c; mv b/1 b/2 b/3 c; rm b/4'],
]

/** The same with an empty directory, which keeps rclone from forgetting the earlier path of files that are uploaded. */
const withEmpty: typeof variants = [
  ['mkdir -p a/empty; echo x > a/f', 'mv a b; echo new > b/f; rmdir b/empty'],
  ['mkdir -p a/empty; echo x > a/f; echo y > a/h', 'mv a b; echo new > b/f; echo new > b/h; rm b/h'],
  ['mkdir -p a/s/empty a/e; echo x > a/s/f', 'mv a b; mv b/s t; echo new > t/f; cp t/f g'],
  ['mkdir -p a/empty; echo x > a/f', 'mv a b; mkdir a; echo z > a/k; echo new > b/f'],
]

/** Not at once: rclone waits for this process to read its messages. */
async function run(script: string, cwd: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-ec', script], { cwd })).stdout
}

async function shown(root: string): Promise<string[]> {
  return (await run('find . -type f -exec grep -H "" {} +', root)).split('\n').sort()
}

describeWith(mountNeeds, 'files of a directory that a command renamed', () => {
  for (const when of ['at once', '500 ms later', '1000 ms later', '1500 ms later', 'after a flush']) {
    // Later renames meet uploads that go on, and the last one of a name can lose: the README says how.
    const options = { tags: when === 'at once' ? 'all' : 'deep', timeout: 60_000 }
    it(
      `[RP14] are where commands have put them ${when}, right after a flush and in the next mount`,
      options,
      async () => {
        const site = await openSite({ timeouts: { writeBack: 1_000 } })
        const { adapter, store, root } = site
        const disk = await scratch()
        const tried = when === 'after a flush' ? [...variants, ...withEmpty] : variants
        for (const place of [root, disk]) {
          for (const index of tried.keys()) await mkdir(join(place, String(index)))
          for (const step of [0, 1] as const) {
            await run(tried.map((variant, index) => `(cd ${index}; ${variant[step]})`).join('\n'), place)
            if (place !== root || step !== 0) continue
            if (when === 'after a flush') await adapter.flush()
            else await delay(Number.parseInt(when) || 0)
          }
        }
        const wanted = await shown(disk)
        await adapter.flush()
        const stored = await Promise.all(
          (await store.keys()).map(
            async (key) => `.${key.slice('threads/t1'.length)}:${(await store.get(key)).trim()}`,
          ),
        )
        expect.soft(['', ...stored].sort()).toEqual(wanted)
        expect.soft(await shown(root)).toEqual(wanted)
        await adapter.close()
        const again = await open(site.options)
        expect.soft(await shown(again.hostPath(at('/')))).toEqual(wanted)
      },
    )
  }
})

describeWith(mountNeeds, 'a file that another one replaced before it was removed', () => {
  it('[RP14] does not come back with its directory', async () => {
    const { adapter, store, root } = await openSite({ timeouts: { writeBack: 1_000 } })
    await run('mkdir a; echo old > a/f; echo stays > a/h', root)
    await adapter.flush()
    await run('echo new > f; mv f a/f; rm a/f; mv a b', root)
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/b/h'])
    expect(await shown(root)).toEqual(['', './b/h:stays'])
  })
})

describeWith(mountNeeds, 'a file whose content rclone replaces by an earlier one', () => {
  const lose = 'mkdir a; echo old > a/f; mv a b; echo new > b/f; mv b a'
  it('[RP14] is refused by every flush, in the next mount too, until a program writes it again', async () => {
    const { adapter, store, root, options } = await openSite({ timeouts: { writeBack: 1_000 } })
    await run(lose, root)
    const refusal = await failureOf(adapter.flush())
    expect(refusal).toMatchObject({ code: 'EIO', path: '/a/f' })
    expect((await failureOf(adapter.flush())).message).toBe(refusal.message)
    await adapter.recover()
    expect((await failureOf(adapter.flush())).message).toBe(refusal.message)
    expect((await failureOf(adapter.close())).message).toContain('write the file again, or remove it, then flush again')
    const again = await open(options)
    expect((await failureOf(again.flush())).message).toBe(refusal.message)
    await run('echo new > a/f', again.hostPath(at('/')))
    await again.flush()
    expect(await store.get('threads/t1/a/f')).toBe('new\n')
    await again.close()
  })

  it('[RP14] is refused until a program removes it', async () => {
    const { adapter, store, root } = await openSite({ timeouts: { writeBack: 1_000 } })
    await run(lose, root)
    expect(await failureOf(adapter.flush())).toMatchObject({ code: 'EIO', path: '/a/f' })
    await run('rm a/f', root)
    await adapter.flush()
    expect(await store.keys()).toEqual([])
  })
})

describeWith(mountNeeds, 'the name of a directory that was removed', () => {
  it('[RP14] has the content of the file that gets it by a write, a move or a copy', async () => {
    const { adapter, store } = await openSite()
    for (const path of ['/w/x', '/m/x/y', '/c/x', '/before/x']) await write(adapter, path, 'below')
    // such a directory keeps rclone from forgetting the earlier path of its files
    await adapter.createDirectory(at('/before/empty'))
    await adapter.move(at('/before'), at('/r'))
    for (const path of ['/w', '/m', '/c', '/r']) await adapter.delete(at(path), { recursive: true })
    for (const path of ['/w', '/r', '/from']) await write(adapter, path, 'content')
    await adapter.copy(at('/from'), at('/c'))
    await adapter.move(at('/from'), at('/m'))
    for (const path of ['/w', '/m', '/c', '/r']) expect(await readText(adapter, path)).toBe('content')
    await adapter.flush()
    expect(await store.keys()).toEqual(['c', 'm', 'r', 'w'].map((name) => `threads/t1/${name}`))
    for (const name of ['w', 'm', 'c', 'r']) expect(await store.get(`threads/t1/${name}`)).toBe('content')
  })
})
