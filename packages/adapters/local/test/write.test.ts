import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import {
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

import { isWorkspaceError } from '@ws/core'
import { component, itWith, deep } from '@ws/test-fixtures'
import { describe, expect, it, vi } from 'vitest'

import { Pace } from '../src/host/pace.ts'
import { at, bytes, collect, failureOf, isRoot, names, open, openSite, readText } from './support.ts'

for (const io of ['auto', 'async'] as const) {
  describe(`writing, io: ${io}`, () => {
    it('of 50 writers with the same ifVersion exactly one wins', async () => {
      const { adapter } = await openSite({ io })
      const { version } = await adapter.write(at('/counter'), bytes('start'))
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) =>
          adapter.write(at('/counter'), bytes(`by ${index}`), { ifVersion: version }),
        ),
      )
      const won = results.filter(({ status }) => status === 'fulfilled')
      expect(won).toHaveLength(1)
      for (const result of results) {
        if (result.status === 'rejected') expect(isWorkspaceError(result.reason, 'ECONFLICT')).toBe(true)
      }
      const winner = results.findIndex(({ status }) => status === 'fulfilled')
      expect(await readText(adapter, '/counter')).toBe(`by ${winner}`)
    })

    it('of 50 writers that create, exactly one wins', async () => {
      const { adapter } = await openSite({ io })
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, (_, index) =>
          index % 2 === 0
            ? adapter.write(at('/new'), bytes(`${index}`), { ifVersion: 'absent' })
            : adapter.append(at('/new'), bytes(`${index}`), { ifVersion: 'absent' }),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await names(adapter)).toEqual(['new'])
    })

    it('of 50 that create an empty file exactly one makes it, and what has the name already stays', async () => {
      const { adapter, root, outside } = await openSite({ io })
      const create = (path: string, mode?: number) => adapter.write(at(path), bytes(''), { ifVersion: 'absent', mode })
      const results = await Promise.allSettled(Array.from({ length: 50 }, () => create('/new', 0o666)))
      const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
      expect(made).toEqual([{ version: (await adapter.stat(at('/new'))).version, size: 0 }])
      expect((await stat(join(root, 'new'))).mode & 0o777).toBe(0o666)

      await adapter.createDirectory(at('/directory'))
      await adapter.write(at('/file'), bytes('content'))
      await symlink(join(outside, 'target'), join(root, 'link'))
      for (const path of ['/directory', '/file', '/link']) {
        expect(await failureOf(create(path))).toMatchObject({ code: 'ECONFLICT', path })
      }
      expect(await readdir(outside)).toEqual([])
      expect(await readText(adapter, '/file')).toBe('content')
      expect(await names(adapter)).toEqual(['directory', 'file', 'link', 'new'])
    })

    it('two adapters on one directory share the condition', async () => {
      const { adapter, root } = await openSite({ io })
      const second = await open(root, { io })
      const { version } = await adapter.write(at('/f'), bytes('start'))
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? adapter : second).write(at('/f'), bytes(`${index}`), { ifVersion: version }),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('three quick writes of one size have three versions', async () => {
      const { adapter } = await openSite({ io })
      const seen = new Set<string>()
      for (let index = 0; index < 60; index += 1) seen.add((await adapter.write(at('/f'), bytes('same'))).version)
      expect(seen.size).toBe(60)
    })

    it('readers during overwrites see the old or the new content, never a mixture', async () => {
      const { adapter } = await openSite({ io })
      const contents = ['a', 'b', 'c'].map((letter) => bytes(letter.repeat(100_000)))
      await adapter.write(at('/f'), contents[0] ?? bytes(''))
      let writing = true
      let reads = 0
      const writer = (async () => {
        for (let index = 0; index < (deep ? 1_000 : 60) || reads < 10; index += 1) {
          await adapter.write(at('/f'), contents[index % 3] ?? bytes(''))
        }
        writing = false
      })()
      while (writing) {
        const read = await adapter.read(at('/f'))
        expect(read.bytes.length).toBe(100_000)
        expect(new Set(read.bytes).size).toBe(1)
        reads += 1
      }
      await writer
    })

    it.each(['a failing', 'an aborted', 'a wrongly typed'])(
      '%s stream leaves the old content and no temp',
      async (what) => {
        const { adapter, root } = await openSite({ io })
        await adapter.write(at('/f'), bytes('old'))
        const controller = new AbortController()
        let returned = false
        const body = (async function* () {
          try {
            yield bytes('new')
            if (what === 'a failing') throw Object.assign(new Error('body broke'), { code: 'ENOENT', syscall: 'read' })
            if (what === 'a wrongly typed') yield 'text' as unknown as Uint8Array
            controller.abort(new Error('enough'))
            await new Promise(() => {}) // a source that hangs
            yield bytes('never')
          } finally {
            returned = true
          }
        })()
        const error = await failureOf(adapter.write(at('/f'), body, { signal: controller.signal }))
        if (what === 'a wrongly typed') expect(error).toMatchObject({ code: 'EINVAL' })
        else expect(error).toMatchObject({ message: what === 'a failing' ? 'body broke' : 'enough' })
        if (what !== 'an aborted') expect(returned).toBe(true)
        expect(await readFile(join(root, 'f'), 'utf8')).toBe('old')
        expect(await readdir(root)).toEqual(['f'])
      },
    )

    it('a mode is kept when a file is replaced, and exact when it is given', async () => {
      const { adapter, root } = await openSite({ io })
      await adapter.write(at('/script'), bytes('x'), { mode: 0o777 })
      expect((await stat(join(root, 'script'))).mode & 0o7777).toBe(0o777)
      await chmod(join(root, 'script'), 0o4751)
      await adapter.write(at('/script'), bytes('y'))
      expect((await stat(join(root, 'script'))).mode & 0o7777).toBe(0o751) // setuid goes, as when writing in place
      expect(await failureOf(adapter.write(at('/f'), bytes(''), { mode: 0o4755 }))).toMatchObject({ code: 'EINVAL' })
    })

    it('a write into a directory that was moved meanwhile fails instead of landing elsewhere', async () => {
      const { adapter, root } = await openSite({ io })
      await mkdir(join(root, 'here'))
      const body = (async function* () {
        yield bytes('x')
        await rename(join(root, 'here'), join(root, 'there'))
      })()
      expect(await failureOf(adapter.write(at('/here/f'), body))).toMatchObject({ code: 'EBUSY' })
      expect(await readdir(join(root, 'there'))).toEqual([])
    })

    it('an append to a file with several hard links is refused, with the remedy', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await writeFile(join(outside, 'shared'), 'outside')
      await link(join(outside, 'shared'), join(root, 'f'))
      const error = await failureOf(adapter.append(at('/f'), bytes('more')))
      expect(error).toMatchObject({ code: 'EBUSY' })
      expect(error['remedy']).toContain('write it as a whole')
      await adapter.write(at('/f'), bytes('own'))
      await adapter.append(at('/f'), bytes(' more'))
      expect(await readText(adapter, '/f')).toBe('own more')
      expect(await readFile(join(outside, 'shared'), 'utf8')).toBe('outside')
    })

    it('concurrent appends lose nothing', async () => {
      const { adapter } = await openSite({ io })
      await Promise.all(Array.from({ length: 40 }, (_, index) => adapter.append(at('/log'), bytes(`${index}\n`))))
      const lines = (await readText(adapter, '/log')).trim().split('\n')
      expect(new Set(lines).size).toBe(40)
    })
  })
}

describe('temporary files', () => {
  it('are hidden and out of reach, whatever their name', async () => {
    const { adapter, root } = await openSite()
    await mkdir(join(root, 'd'))
    for (const name of ['.ws-tmp-x', 'd/.ws-tmp-0-1-2-3']) await writeFile(join(root, name), 'secret word')
    expect(await names(adapter)).toEqual(['d'])
    expect((await collect(adapter.list(at('/'), { recursive: true }))).map(({ path }) => path)).toEqual(['/d'])
    for (const regex of [false, true]) {
      expect(await collect(adapter.search({ pattern: 'secret', regex, in: at('/') }))).toEqual([])
    }
    await adapter.copy(at('/d'), at('/e'), { recursive: true })
    expect(await readdir(join(root, 'e'))).toEqual([])
    const path = at('/d/.ws-tmp-0-1-2-3')
    expect(await failureOf(adapter.read(path))).toMatchObject({ code: 'ENOENT' })
    expect(await failureOf(adapter.stat(path))).toMatchObject({ code: 'ENOENT' })
    expect(await failureOf(adapter.delete(path))).toMatchObject({ code: 'ENOENT' })
    expect(await failureOf(adapter.write(path, bytes('')))).toMatchObject({ code: 'EINVAL' })
    expect(await failureOf(adapter.move(at('/e'), path))).toMatchObject({ code: 'EINVAL' })
    await adapter.delete(at('/d'), { recursive: true })
    expect(await names(adapter)).toEqual(['e'])
  })

  /** A writer in a process of its own, stuck in the middle of a stream. */
  async function startWriter(root: string) {
    const script = `
      const { createLocalAdapter } = await import(process.argv[1])
      const adapter = await createLocalAdapter({ root: process.argv[2] })
      const body = (async function* () {
        yield new Uint8Array(1000)
        console.log('in the middle')
        await new Promise((resolve) => setTimeout(resolve, 600_000))
      })()
      await adapter.write('/d/f', body)`
    const args = ['--conditions=@ws/source', '--input-type=module', '-e', script]
    const writer = spawn(process.execPath, [...args, join(import.meta.dirname, '../src/index.ts'), root], {
      cwd: join(import.meta.dirname, '..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(writer.stdout, 'data')
    return writer
  }

  it('one left by a killed process is swept when it is met, one of a living process never', async () => {
    const { adapter, root } = await openSite()
    const directory = join(root, 'd')
    await adapter.createDirectory(at('/d'))
    const writer = await startWriter(root)
    try {
      const [temp = ''] = await readdir(directory)
      expect(temp).toMatch(/^\.ws-tmp-/)
      const longAgo = new Date(Date.now() - 3_600_000)
      await utimes(join(directory, temp), longAgo, longAgo)
      expect(await names(adapter, '/d')).toEqual([])
      expect(await readdir(directory)).toEqual([temp]) // its process lives
      await open(root)
      expect(await readdir(directory)).toEqual([temp])

      writer.kill('SIGKILL')
      await once(writer, 'exit')
      const now = new Date()
      await utimes(join(directory, temp), now, now)
      expect(await names(adapter, '/d')).toEqual([])
      expect(await readdir(directory)).toEqual([temp]) // too young to be sure of
      // The next open of the root knows that its process has ended.
      await open(root)
      expect(await readdir(directory)).toEqual([])
    } finally {
      writer.kill('SIGKILL')
    }
  })

  it('one left in the root is swept when an adapter is created; a directory that holds only such ones is empty', async () => {
    const { adapter, root } = await openSite()
    const longAgo = new Date(Date.now() - 48 * 3_600_000)
    await mkdir(join(root, 'd'))
    for (const name of ['.ws-tmp-zz-zz-zz-zz', 'd/.ws-tmp-zz-zz-zz-zz']) {
      await writeFile(join(root, name), '')
      await utimes(join(root, name), longAgo, longAgo)
    }
    await open(root)
    expect(await readdir(root)).toEqual(['d'])
    await adapter.delete(at('/d'))
    expect(await readdir(root)).toEqual([])
  })
})

describe('special files', () => {
  itWith(component('python3'), 'a FIFO or a socket where a file is expected is a typed error, at once', async () => {
    const { adapter, root } = await openSite()
    const script =
      'import os,socket,sys; os.chdir(sys.argv[1]); os.mkfifo("fifo"); socket.socket(socket.AF_UNIX).bind("sock")'
    await once(spawn('/usr/bin/python3', ['-c', script, root], { stdio: 'inherit' }), 'exit')
    for (const path of [at('/fifo'), at('/sock')]) {
      expect(await adapter.stat(path)).toMatchObject({ type: 'other', size: 0 })
      for (const call of [
        () => adapter.read(path),
        () => adapter.readStream(path),
        () => adapter.write(path, bytes('x')),
        () => adapter.append(path, bytes('x')),
        () => adapter.copy(path, at('/copy')),
        () => collect(adapter.search({ pattern: 'x', in: path })),
      ]) {
        expect(await failureOf(call())).toMatchObject({ code: 'EINVAL' })
      }
      expect(await failureOf(collect(adapter.list(path)))).toMatchObject({ code: 'ENOTDIR' })
    }
    expect((await collect(adapter.list(at('/')))).map(({ type }) => type)).toEqual(['other', 'other'])
    expect(await collect(adapter.search({ pattern: 'x', regex: true, in: at('/') }))).toEqual([])
    const error = await failureOf(adapter.copy(at('/fifo'), at('/c')))
    expect(error).toMatchObject({ code: 'EINVAL', path: '/fifo' })
    await adapter.move(at('/fifo'), at('/moved'))
    await adapter.delete(at('/moved'))
    await adapter.delete(at('/sock'))
    expect(await readdir(root)).toEqual([])
  })

  it.skipIf(!isRoot)('a device is not opened', async () => {
    const { adapter, root } = await openSite()
    // character device 1:3 is /dev/null; opening 10:130 would start a watchdog
    await once(spawn('/usr/bin/mknod', [join(root, 'dog'), 'c', '10', '130'], { stdio: 'inherit' }), 'exit')
    expect(await failureOf(adapter.read(at('/dog')))).toMatchObject({ code: 'EINVAL' })
    expect(await failureOf(adapter.append(at('/dog'), bytes('x')))).toMatchObject({ code: 'EINVAL' })
  })
})

describe('moving', () => {
  it('between two hard links of one file the source goes, and the content stays', async () => {
    const { adapter, root } = await openSite()
    await writeFile(join(root, 'a'), 'content')
    await link(join(root, 'a'), join(root, 'b'))
    expect(await failureOf(adapter.move(at('/a'), at('/b')))).toMatchObject({ code: 'EEXIST' })
    await adapter.move(at('/a'), at('/b'), { overwrite: true })
    expect(await names(adapter)).toEqual(['b'])
    expect(await readText(adapter, '/b')).toBe('content')
  })

  it('without overwrite, of many sources for one destination exactly one gets it and the others stay', async () => {
    const { adapter } = await openSite()
    const sources = Array.from({ length: 20 }, (_, index) => at(`/s${index}`))
    for (const source of sources) await adapter.write(source, bytes(source))
    const results = await Promise.allSettled(sources.map((source) => adapter.move(source, at('/d'))))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await names(adapter)).toHaveLength(20)
  })

  it('without overwrite, a file that another process puts there in the last moment is not replaced', async () => {
    const original = fs.linkSync
    fs.linkSync = (from, to) => {
      fs.writeFileSync(to, 'theirs')
      original(from, to)
    }
    syncBuiltinESMExports()
    // Its calls stay on this thread, where the link is.
    using _pace = vi.spyOn(Pace.prototype, 'isSlow', 'get').mockReturnValue(false)
    try {
      const { adapter } = await openSite()
      await adapter.write(at('/mine'), bytes('mine'))
      expect(await failureOf(adapter.move(at('/mine'), at('/there')))).toMatchObject({ code: 'EEXIST' })
      expect(await failureOf(adapter.write(at('/new'), bytes('x'), { ifVersion: 'absent' }))).toMatchObject({
        code: 'ECONFLICT',
      })
      expect(await readText(adapter, '/there')).toBe('theirs')
      expect(await readText(adapter, '/mine')).toBe('mine')
      expect(await names(adapter)).toEqual(['mine', 'new', 'there'])
    } finally {
      fs.linkSync = original
      syncBuiltinESMExports()
    }
  })

  it('a directory onto an empty one needs overwrite; into itself is EINVAL; two opposite moves do not wait for each other', async () => {
    const { adapter } = await openSite()
    await adapter.write(at('/a/f'), bytes('x'), { parents: true })
    await adapter.createDirectory(at('/empty'))
    expect(await failureOf(adapter.move(at('/a'), at('/empty')))).toMatchObject({ code: 'EEXIST' })
    expect(await failureOf(adapter.move(at('/a'), at('/a/b/c')))).toMatchObject({ code: 'EINVAL' })
    await adapter.move(at('/a'), at('/empty'), { overwrite: true })
    expect(await readText(adapter, '/empty/f')).toBe('x')
    await adapter.write(at('/one'), bytes('1'))
    await adapter.write(at('/two'), bytes('2'))
    await Promise.allSettled([
      adapter.move(at('/one'), at('/two'), { overwrite: true }),
      adapter.move(at('/two'), at('/one'), { overwrite: true }),
    ])
    expect(await names(adapter)).toHaveLength(2)
  })
})

describe('copying', () => {
  it('keeps links as links, modes, and names that are no text; a setuid bit is not copied', async () => {
    const { adapter, root } = await openSite()
    await mkdir(join(root, 'src/sub'), { recursive: true })
    await writeFile(join(root, 'src/run'), 'run')
    await chmod(join(root, 'src/run'), 0o4755)
    await writeFile(join(root, 'src/big'), 'b'.repeat(300_000))
    await symlink('../nowhere', join(root, 'src/sub/link'))
    await writeFile(Buffer.concat([Buffer.from(`${root}/src/`), Buffer.from([0x66, 0xff])]), 'odd')
    await chmod(join(root, 'src/sub'), 0o555)
    await adapter.copy(at('/src'), at('/dst'), { recursive: true })
    expect((await stat(join(root, 'dst/run'))).mode & 0o7777).toBe(0o755)
    expect((await stat(join(root, 'dst/sub'))).mode & 0o7777).toBe(0o555)
    expect(await adapter.readSymlink(at('/dst/sub/link'))).toBe('../nowhere')
    expect((await readFile(join(root, 'dst/big'))).length).toBe(300_000)
    expect(await readFile(Buffer.concat([Buffer.from(`${root}/dst/`), Buffer.from([0x66, 0xff])]), 'utf8')).toBe('odd')
    for (const name of ['src/sub', 'dst/sub']) await chmod(join(root, name), 0o755)
  })

  it('that stops half-way reports what was done, and where', async () => {
    const { adapter, root } = await openSite()
    for (const name of ['a', 'b', 'c']) await adapter.write(at(`/src/${name}`), bytes(name), { parents: true })
    await mkdir(join(root, 'dst/b'), { recursive: true }) // a directory where a file must go
    const error = await failureOf(adapter.copy(at('/src'), at('/dst'), { recursive: true, overwrite: true }))
    expect(error).toMatchObject({ code: 'EISDIR', partial: { failedAt: '/src/b' } })
    const { completed, completedCount } = error['partial'] as { completed: string[]; completedCount: number }
    expect(completed).toHaveLength(completedCount)
    for (const path of completed) expect(await readText(adapter, path.replace('/src', '/dst'))).toBe(path.slice(-1))
    expect(await names(adapter, '/src')).toEqual(['a', 'b', 'c'])
  })
})

describe('deleting', () => {
  it('is refused while the mount table cannot be read: a mount below could lose its files', async () => {
    const { adapter, root } = await openSite()
    await mkdir(join(root, 'd'))
    const { openSync } = fs
    fs.openSync = (path, ...rest) => {
      if (String(path).endsWith('/mountinfo')) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
      return openSync(path, ...rest)
    }
    syncBuiltinESMExports()
    try {
      expect(await failureOf(adapter.delete(at('/d'), { recursive: true, force: true }))).toMatchObject({ path: '/d' })
      expect(await readdir(root)).toEqual(['d'])
    } finally {
      fs.openSync = openSync
      syncBuiltinESMExports()
    }
  })

  it('with force, an entry that another process deletes in the last moment is no error; without force it is ENOENT', async () => {
    const { unlinkSync, rmdirSync } = fs
    const twice = (remove: (path: fs.PathLike) => void) => (path: fs.PathLike) => {
      remove(path)
      remove(path)
    }
    Object.assign(fs, { unlinkSync: twice(unlinkSync), rmdirSync: twice(rmdirSync) })
    syncBuiltinESMExports()
    // Its calls stay on this thread, where the replaced calls are.
    using _pace = vi.spyOn(Pace.prototype, 'isSlow', 'get').mockReturnValue(false)
    try {
      const { adapter, root } = await openSite()
      for (const name of ['one', 'two']) await writeFile(join(root, name), '')
      for (const name of ['three', 'four']) await mkdir(join(root, name))
      for (const name of ['/one', '/three']) await adapter.delete(at(name), { force: true })
      for (const name of ['/two', '/four']) {
        expect(await failureOf(adapter.delete(at(name)))).toMatchObject({ code: 'ENOENT', path: name })
      }
      expect(await readdir(root)).toEqual([])
    } finally {
      Object.assign(fs, { unlinkSync, rmdirSync })
      syncBuiltinESMExports()
    }
  })

  it('removes everything, names that are no text too, and follows nothing', async () => {
    const { adapter, root, outside } = await openSite()
    await writeFile(join(outside, 'keep'), 'keep')
    await mkdir(join(root, 'd/e/f'), { recursive: true })
    await symlink(outside, join(root, 'd/e/link'))
    for (const name of [[0xff], [0xef, 0xbf, 0xbd], [0x61, 0x80, 0x62]]) {
      await writeFile(Buffer.concat([Buffer.from(`${root}/d/`), Buffer.from(name)]), 'x')
      await mkdir(Buffer.concat([Buffer.from(`${root}/d/e/`), Buffer.from(name)]))
    }
    for (let index = 0; index < 600; index += 1) await writeFile(join(root, `d/e/f/${index}`), '')
    await adapter.delete(at('/d'), { recursive: true })
    expect(await readdir(root)).toEqual([])
    expect(await readFile(join(outside, 'keep'), 'utf8')).toBe('keep')
  })

  it('an abort stops a recursive delete with the reason', async () => {
    const { adapter, root } = await openSite()
    await mkdir(join(root, 'd'))
    for (let index = 0; index < 800; index += 1) await writeFile(join(root, `d/${index}`), '')
    const controller = new AbortController()
    const deleting = adapter.delete(at('/d'), { recursive: true, signal: controller.signal })
    setImmediate(() => controller.abort(new Error('enough')))
    expect(await failureOf(deleting)).toMatchObject({ message: 'enough' })
    expect((await lstat(join(root, 'd'))).isDirectory()).toBe(true)
  })
})
