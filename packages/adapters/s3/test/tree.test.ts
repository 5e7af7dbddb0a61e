import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { S3Problem } from '../src/reports.ts'
import { at, Bench, decode, encode, listed, text, tagsOn } from './support.ts'

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `a bucket as a tree on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    afterAll(() => bench.close())

    it('[PC18, RP6] two adapters on two prefixes of one bucket never see each other', async () => {
      const [one, twelve] = [await bench.adapter({ prefix: 'apart/t1' }), await bench.adapter({ prefix: 'apart/t12' })]
      await one.write(at('/a'), encode('one'))
      await twelve.write(at('/b'), encode('twelve'))
      await bench.put('apart/t1', 'an object of the name of the prefix')
      expect(await listed(one)).toEqual(['file /a'])
      expect(await listed(twelve)).toEqual(['file /b'])
      await expect(one.read(at('/b'))).rejects.toMatchObject({ code: 'ENOENT' })
      for (const path of ['/../t12/b', '/..', '/2/b']) {
        await expect(one.read(path as ReturnType<typeof at>)).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:EOUTSIDE|EINVAL|ENOENT)$/u),
        })
      }
      for (const entry of ['/a']) await one.delete(at(entry))
      await one.write(at('/2/x'), encode('x'))
      await one.delete(at('/2'), { recursive: true })
      expect(await bench.keys('apart')).toEqual(['apart/t1', 'apart/t12/b'])
    })

    it('[RP7] what was acknowledged is in the bucket, and there for whoever opens it next', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix })
      await adapter.write(at('/dir/a'), encode('kept'))
      await adapter.createDirectory(at('/empty'))
      expect((await bench.get(`${prefix}/dir/a`)).text).toBe('kept')
      await adapter.close()
      const next = await bench.adapter({ prefix })
      expect(await listed(next)).toEqual(['directory /dir', 'directory /empty', 'file /dir/a'])
      expect(await text(next, '/dir/a')).toBe('kept')
    })

    it('keeps explicit directories, and lets implicit ones go with their last entry', async () => {
      const adapter = await bench.adapter()
      await adapter.createDirectory(at('/made'))
      await adapter.write(at('/made/a'), encode('x'))
      await adapter.write(at('/implied/a'), encode('x'))
      await adapter.delete(at('/made/a'))
      await adapter.delete(at('/implied/a'))
      expect(await listed(adapter)).toEqual(['directory /made'])
      await adapter.createDirectory(at('/x/y/z'), { recursive: true })
      await adapter.delete(at('/x/y/z'))
      expect(await listed(adapter, '/x')).toEqual(['directory /x/y'])
      await expect(adapter.delete(at('/x'))).rejects.toMatchObject({ code: 'ENOTEMPTY' })
      await adapter.delete(at('/x/y'))
      await adapter.delete(at('/x'))
      await expect(adapter.stat(at('/x'))).rejects.toMatchObject({ code: 'ENOENT' })
    })

    it('shows the directory where an object and a directory have one name, and reports the object', async () => {
      const problems: S3Problem[] = []
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix, onProblem: (problem) => problems.push(problem) })
      for (const key of ['a', 'a-b', 'a/b', 'c', 'c!', 'c-/d', 'c/']) await bench.put(`${prefix}/${key}`, key)
      const all = [
        'directory /a',
        'directory /c',
        'directory /c-',
        'file /a-b',
        'file /a/b',
        'file /c!',
        'file /c-/d',
        'unreachable file /a',
        'unreachable file /c',
      ]
      expect(await listed(adapter)).toEqual(all)
      expect(problems).toEqual([
        { kind: 'hidden-file', path: '/a' },
        { kind: 'hidden-file', path: '/c' },
      ])
      expect(await listed(adapter, '/', false)).toEqual(all.filter((line) => !/\/\S+\//u.test(line)))
      expect((await adapter.stat(at('/a'))).type).toBe('directory')
      // it is not lost: it can be read, and comes to light when the directory goes
      expect(await text(adapter, '/a')).toBe('a')
      await adapter.move(at('/a'), at('/moved'))
      expect((await adapter.stat(at('/a'))).type).toBe('file')
      await adapter.delete(at('/c'), { recursive: true })
      expect(await text(adapter, '/c')).toBe('c')
    })

    it('does not write a file over a directory that it knows of, also where it does not look', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/dir/sub/a'), encode('x'))
      for (const path of ['/dir', '/dir/sub']) {
        await expect(adapter.write(at(path), encode('x'))).rejects.toMatchObject({ code: 'EISDIR' })
      }
      await adapter.delete(at('/dir'), { recursive: true })
      await adapter.write(at('/dir'), encode('x'))
      expect(await listed(adapter)).toEqual(['file /dir'])
    })

    it('[PC21] reports keys that no path can name, and never reaches them by a guess', async () => {
      const problems: S3Problem[] = []
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix, onProblem: (problem) => problems.push(problem) })
      const long = 'x'.repeat(300)
      const odd = [`d//x`, `d//y`, `/lead`, `${long}/a`, 'd/fine']
      // the simulator hangs up on names of dots
      if (name === 'ceph') odd.push('d/../y', './z')
      for (const key of odd) await bench.put(`${prefix}/${key}`)
      const found = await listed(adapter)
      expect(found.filter((line) => !line.startsWith('unreachable'))).toEqual(['directory /d', 'file /d/fine'])
      const unreachable = ['directory /(empty)', 'directory /d/(empty)', `directory /${long}`]
      if (name === 'ceph') unreachable.push('directory /.', 'directory /d/..')
      expect(found.filter((line) => line.startsWith('unreachable'))).toEqual(
        unreachable.map((line) => `unreachable ${line}`).toSorted(),
      )
      expect(problems.every(({ kind }) => kind === 'unreachable-key')).toBe(true)
      for (const path of ['/d/(empty)', '/d//x', '/d/../y', `/${long}/a`]) {
        await expect(adapter.read(path as ReturnType<typeof at>)).rejects.toMatchObject({
          code: expect.stringMatching(/^(?:ENOENT|EINVAL|ENAMETOOLONG)$/u),
        })
      }
      await adapter.delete(at('/d'), { recursive: true })
      expect((await bench.keys(`${prefix}/`)).some((key) => key.startsWith(`${prefix}/d`))).toBe(false)
    })

    it('finds two names that are one text', async () => {
      const problems: S3Problem[] = []
      const adapter = await bench.adapter({ onProblem: (problem) => problems.push(problem) })
      await adapter.write(at('/e\u0301'), encode('1'))
      await adapter.write(at('/\u00e9'), encode('2'))
      await adapter.write(at('/\u00e8'), encode('3'))
      expect((await listed(adapter)).length).toBe(3)
      expect(problems).toEqual([{ kind: 'normalisation', path: '/\u00e9' }])
    })

    it('keeps time and mode where rclone looks for them, and reads what rclone wrote', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix })
      await adapter.write(at('/a'), encode('x'), { mode: 0o750 })
      const { metadata } = await bench.get(`${prefix}/a`)
      expect(Math.abs(Number(metadata['mtime']) * 1000 - Date.now())).toBeLessThan(600_000)
      expect(metadata['mode']).toBe('100750')
      await bench.put(`${prefix}/b`, 'x', { mtime: '1000000000.5', mode: '100640' })
      expect(await adapter.stat(at('/b'))).toMatchObject({ modifiedAt: 1_000_000_000_500, mode: 0o640 })
      await adapter.copy(at('/b'), at('/c'))
      await adapter.move(at('/c'), at('/d'))
      expect(await adapter.stat(at('/d'))).toMatchObject({ modifiedAt: 1_000_000_000_500, mode: 0o640 })
    })

    it('keeps links as rclone does, and only when told to', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix, symlinks: 'rclonelink' })
      await adapter.createSymlink?.(at('/link'), '../x')
      expect((await bench.get(`${prefix}/link.rclonelink`)).text).toBe('../x')
      await bench.put(`${prefix}/dir.rclonelink`, '/d')
      await bench.put(`${prefix}/dir/a`, '')
      expect(await listed(adapter)).toEqual([
        'directory /dir',
        'file /dir/a',
        'symlink /link',
        'unreachable symlink /dir',
      ])
      const plain = await bench.adapter({ prefix })
      expect(plain.capabilities.symlinks).toBe(false)
      expect(await listed(plain)).toEqual([
        'directory /dir',
        'file /dir.rclonelink',
        'file /dir/a',
        'file /link.rclonelink',
      ])
    })

    it('takes no object for a link that could be followed when its content is no target, and deletes it all the same', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix, symlinks: 'rclonelink' })
      for (const [index, content] of ['', 'a\0b', 'x'.repeat(5000)].entries()) {
        await bench.put(`${prefix}/l${index}.rclonelink`, content)
        const path = at(`/l${index}`)
        expect((await adapter.stat(path)).type).toBe('symlink')
        for (const attempt of [
          () => adapter.read(path),
          () => adapter.read(at(`/l${index}/below`)),
          () => adapter.write(path, encode('x')),
          async () => adapter.readSymlink?.(path),
        ]) {
          await expect(attempt()).rejects.toMatchObject({ code: 'EIO' })
        }
        await adapter.delete(path)
      }
      expect(await bench.keys(`${prefix}/`)).toEqual([])
    })

    it('[RP18, RP20] hides its scratch space, and leaves nothing of it', async () => {
      const prefix = bench.prefix()
      const adapter = await bench.adapter({ prefix })
      const scratch = await adapter.createScratch?.()
      await scratch?.write(at('/sub/a'), encode('temporary'))
      await adapter.write(at('/b'), encode('x'))
      expect(await listed(adapter)).toEqual(['file /b'])
      const keys = await bench.keys(`${prefix}/`)
      expect(keys.length).toBe(2)
      const hidden = keys.find((key) => key.endsWith('/sub/a'))?.slice(prefix.length) ?? ''
      await expect(adapter.read(hidden as ReturnType<typeof at>)).rejects.toMatchObject({ code: 'EINVAL' })
      await scratch?.close()
      expect(await bench.keys(`${prefix}/`)).toEqual([`${prefix}/b`])
    })

    it('gives time and mode of every entry when asked for details', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/a'), encode('x'), { mode: 0o600 })
      for await (const entry of adapter.list(at('/'), { details: true })) {
        expect(entry).toEqual({ path: '/a', name: 'a', ...(await adapter.stat(at('/a'))) })
      }
      expect(decode((await adapter.read(at('/a'))).bytes)).toBe('x')
    })
  })
}
