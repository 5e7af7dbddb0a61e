import {
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  IsDirectoryError,
  NotDirectoryError,
  PermissionError,
  StaleFileError,
  UnsupportedGrepPatternError,
} from '@mastra/core/workspace'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createMastraFilesystem } from '@ws/bridge-mastra'
import { createWorkspace } from '@ws/core'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openSite, project, protectDocs, sites, type Files } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `the file system on ${site.name}`, { tags: site.tags }, () => {
    const at = (path: string) => `${site.at === '/' ? '' : site.at}/${path}`

    async function open(files: Files = {}, options = {}) {
      const workspace = await openSite(site, files, options)
      return { workspace, fs: createMastraFilesystem(workspace) }
    }

    it('writes and reads text and bytes, makes parents, and replaces', async () => {
      const { fs } = await open()
      await fs.writeFile(at('d/deep/a.txt'), 'old')
      await fs.writeFile(at('d/deep/a.txt'), 'é\r\n')
      expect(await fs.readFile(at('d/deep/a.txt'), { encoding: 'utf-8' })).toBe('é\r\n')
      await fs.writeFile('bytes', Buffer.from([0, 255]))
      expect(await fs.readFile(at('bytes'))).toEqual(Buffer.from([0, 255]))
      expect(await fs.readFile('bytes', { encoding: 'hex' })).toBe('00ff')
      await expect(fs.readFile('bytes', { encoding: 'utf-8' })).rejects.toThrow(/not UTF-8/u)
      await expect(fs.writeFile('new/a', '', { recursive: false })).rejects.toThrow(DirectoryNotFoundError)
      await expect(fs.writeFile('bytes', '', { overwrite: false })).rejects.toThrow(FileExistsError)
      await expect(fs.writeFile('d', '')).rejects.toThrow(IsDirectoryError)
    })

    it('names a link by its own name, and refuses to delete where it may only read', async () => {
      const { fs, workspace } = await open({ 'd/a': 'x', 'docs/a': 'x' }, { rules: [protectDocs] })
      await workspace.createSymlink('d/l', 'a')
      expect(await fs.stat(at('d/l'))).toMatchObject({ name: 'l', path: at('d/a'), size: 1 })
      await expect(fs.deleteFile('docs/none')).rejects.toThrow(PermissionError)
      await expect(fs.rmdir('docs/none')).rejects.toThrow(PermissionError)
      await expect(fs.deleteFile('d/none')).rejects.toThrow(FileNotFoundError)
    })

    it('refuses to write over a change that the caller has not seen, also within one millisecond', async () => {
      const { fs, workspace } = await open({ f: 'one' })
      const { modifiedAt } = await fs.stat('f')
      await workspace.write('f', 'two')
      await workspace.utimes('f', { modifiedAt: modifiedAt.getTime() })
      await expect(fs.writeFile('f', 'mine', { expectedMtime: modifiedAt })).rejects.toThrow(StaleFileError)
      await expect(fs.writeFile('f', 'mine', { expectedMtime: new Date(5) })).rejects.toThrow(StaleFileError)
      const now = await fs.stat('f')
      await fs.writeFile('f', 'mine', { expectedMtime: now.modifiedAt })
      expect(await workspace.readText('f')).toBe('mine')
      await fs.writeFile('made', 'x', { expectedMtime: now.modifiedAt })
      expect(await workspace.readText('made')).toBe('x')
    })

    it('appends, and makes a file that is missing', async () => {
      const { fs } = await open()
      await fs.appendFile('d/log', 'a')
      await fs.appendFile('d/log', Buffer.from('b'))
      expect(await fs.readFile('d/log', { encoding: 'utf8' })).toBe('ab')
    })

    it('deletes files and links, and says what it does not delete', async () => {
      const { fs, workspace } = await open({ 'd/a': 'x' })
      await workspace.createSymlink('link', 'd/a')
      await fs.deleteFile('link')
      expect(await fs.exists('d/a')).toBe(true)
      await fs.deleteFile('d/a')
      await expect(fs.deleteFile('d/a')).rejects.toThrow(FileNotFoundError)
      await fs.deleteFile('d/a', { force: true })
      await expect(fs.deleteFile('d')).rejects.toThrow(IsDirectoryError)
    })

    it('copies and moves files, and directories where it is asked to', async () => {
      const { fs } = await open({ 'a/f': 'f', 'a/sub/g': 'g', 'b/f': 'old' })
      await fs.copyFile('a/f', 'c/f')
      expect(await fs.readFile('c/f', { encoding: 'utf8' })).toBe('f')
      await expect(fs.copyFile('a/f', 'b/f', { overwrite: false })).rejects.toThrow(FileExistsError)
      await expect(fs.copyFile('missing', 'x')).rejects.toThrow(FileNotFoundError)
      await expect(fs.copyFile('a', 'x')).rejects.toThrow(IsDirectoryError)
      await fs.copyFile('a', 'b', { recursive: true, overwrite: false })
      expect(await fs.readFile('b/f', { encoding: 'utf8' })).toBe('old')
      expect(await fs.readFile('b/sub/g', { encoding: 'utf8' })).toBe('g')
      await fs.moveFile('a/f', 'b/f')
      expect(await fs.readFile('b/f', { encoding: 'utf8' })).toBe('f')
      expect(await fs.exists('a/f')).toBe(false)
      await expect(fs.moveFile('c/f', 'b/f', { overwrite: false })).rejects.toThrow(FileExistsError)
      await expect(fs.moveFile('missing', 'x')).rejects.toThrow(FileNotFoundError)
      await expect(fs.copyFile('b', 'b/sub', { recursive: true })).rejects.toThrow(/into itself/u)
      expect(await fs.readdir('b/sub')).toHaveLength(1)
      await expect(fs.copyFile('b/f', 'c')).rejects.toMatchObject({ path: 'c', code: 'EISDIR' })
      await expect(fs.moveFile('b/f', 'c')).rejects.toMatchObject({ path: 'c', code: 'EISDIR' })
      await expect(fs.copyFile('b', 'c')).rejects.toMatchObject({ path: 'b', code: 'EISDIR' })
      await expect(fs.moveFile('b/f', 'b/../b/f', { overwrite: false })).rejects.toThrow(FileExistsError)
      await expect(fs.copyFile('b/f', 'b/f', { overwrite: false })).rejects.toThrow(FileExistsError)
    })

    it('makes and removes directories', async () => {
      const { fs } = await open({ file: '' })
      await fs.mkdir('a/b/c', { recursive: true })
      await fs.mkdir('a/b/c')
      await fs.mkdir('a/b/c', { recursive: false })
      await expect(fs.mkdir('x/y', { recursive: false })).rejects.toThrow(DirectoryNotFoundError)
      await expect(fs.mkdir('file')).rejects.toThrow(FileExistsError)
      await expect(fs.rmdir('a')).rejects.toThrow(DirectoryNotEmptyError)
      await expect(fs.rmdir('file')).rejects.toThrow(NotDirectoryError)
      await expect(fs.rmdir('missing')).rejects.toThrow(DirectoryNotFoundError)
      await fs.rmdir('missing', { force: true })
      await fs.rmdir('a', { recursive: true })
      expect(await fs.exists('a')).toBe(false)
    })

    it('lists a directory: depth, extensions, sizes and links', async () => {
      const { fs, workspace } = await open({
        'd/a.txt': 'four',
        'd/b.md': '',
        'd/sub/c.txt': '',
        'd/sub/deep/e.txt': '',
      })
      await workspace.createSymlink('d/link', 'sub')
      const names = async (options = {}) => (await fs.readdir(at('d'), options)).map(({ name }) => name).toSorted()
      expect(await names()).toEqual(['a.txt', 'b.md', 'link', 'sub'])
      expect(await names({ extension: '.txt' })).toEqual(['a.txt', 'link', 'sub'])
      expect(await names({ extension: '' })).toEqual(await names())
      expect(await names({ recursive: true, extension: ['txt'] })).toEqual([
        'a.txt',
        'link',
        'sub',
        'sub/c.txt',
        'sub/deep',
        'sub/deep/e.txt',
      ])
      expect(await names({ recursive: true, maxDepth: 1 })).not.toContain('sub/deep/e.txt')
      const entries = await fs.readdir('d')
      expect(entries).toContainEqual({ name: 'a.txt', type: 'file', size: 4 })
      expect(entries).toContainEqual({ name: 'link', type: 'directory', isSymlink: true, symlinkTarget: 'sub' })
      await expect(fs.readdir('missing')).rejects.toThrow(DirectoryNotFoundError)
      await expect(fs.readdir('d/a.txt')).rejects.toThrow(NotDirectoryError)
    })

    it('walks a tree with relative paths, with names with a dot only where it is asked to', async () => {
      const { fs } = await open({ 'd/a': '', 'd/.h/b': '', 'd/s/t/c': '' })
      const paths = async (options = {}) => (await fs.walk?.(at('d'), options))?.map(({ path }) => path).toSorted()
      expect(await paths()).toEqual(['a', 's', 's/t', 's/t/c'])
      expect(await paths({ includeHidden: true, maxDepth: 2 })).toEqual(['.h', '.h/b', 'a', 's', 's/t'])
      expect(await paths({ maxDepth: 1 })).toEqual(['a', 's'])
      await expect(fs.walk?.('missing')).rejects.toThrow(DirectoryNotFoundError)
      await expect(fs.walk?.('d/a')).rejects.toThrow(NotDirectoryError)
    })

    it('greps in one pass: columns in UTF-16, context, caps, and names with a dot', async () => {
      const { fs } = await open({
        'd/a.txt': 'one\n\u{1F44B} Two two\nthree\ntwo\n',
        'd/.h/b.txt': 'two\n',
        'd/s/c.txt': 'x\u00A0two\n',
      })
      const options = { pattern: 'two', path: at('d'), caseSensitive: true, includeHidden: false }
      const grep = async (more = {}) =>
        (await fs.grep?.({ ...options, ...more }))?.toSorted((one, two) => (one.path < two.path ? -1 : 1))
      expect(await grep()).toEqual([
        {
          path: 'a.txt',
          matches: [
            { line: 2, column: 7, text: '\u{1F44B} Two two' },
            { line: 4, column: 0, text: 'two' },
          ],
        },
        { path: 's/c.txt', matches: [{ line: 1, column: 2, text: 'x\u00A0two' }] },
      ])
      expect((await grep({ caseSensitive: false }))?.[0]?.matches[0]?.column).toBe(3)
      expect((await grep({ includeHidden: true }))?.map(({ path }) => path)).toContain('.h/b.txt')
      expect((await grep({ maxCountPerFile: 1 }))?.[0]?.matches).toHaveLength(1)
      expect(await grep({ maxTotalMatches: 1 })).toHaveLength(1)
      expect((await grep({ contextLines: 1 }))?.[0]?.matches[0]).toMatchObject({ before: ['one'], after: ['three'] })
      // JavaScript's blanks, and its ways to write plain characters
      expect(await grep({ pattern: String.raw`x\stwo` })).toHaveLength(1)
      expect(await grep({ pattern: String.raw`x[\s\/]two` })).toHaveLength(1)
      expect(await grep({ pattern: String.raw`x\Stwo` })).toEqual([])
      for (const pattern of ['(?=two)', String.raw`(t)\1`, '[', '(?i)two', '[^]']) {
        await expect(grep({ pattern }), pattern).rejects.toThrow(UnsupportedGrepPatternError)
      }
      await expect(grep({ path: 'missing' })).rejects.toThrow(FileNotFoundError)
    })

    it('tells name, path, type, size and times, and the path without links', async () => {
      const { fs, workspace } = await open({ 'd/a.txt': 'four' })
      await workspace.createSymlink('link', 'd')
      const stat = await fs.stat('link/a.txt')
      expect(stat).toMatchObject({ name: 'a.txt', path: at('d/a.txt'), type: 'file', size: 4 })
      expect(stat.modifiedAt.getTime()).toBe(Math.trunc((await workspace.stat('d/a.txt')).modifiedAt ?? 0))
      expect((await fs.stat('d')).type).toBe('directory')
      expect(await fs.realpath?.('link/a.txt')).toBe(at('d/a.txt'))
      await expect(fs.stat('missing')).rejects.toThrow(FileNotFoundError)
      await expect(fs.stat('d/a.txt/below')).rejects.toThrow(FileNotFoundError)
    })

    it('refuses what rules forbid and paths outside, with the remedy', async () => {
      const { fs } = await open(project, { rules: [protectDocs] })
      const refused = expect.objectContaining({ message: expect.stringContaining('write below `notes`') })
      for (const work of [
        () => fs.writeFile('docs/a', ''),
        () => fs.appendFile('docs/guide.md', ''),
        () => fs.deleteFile('docs/guide.md'),
        () => fs.rmdir('docs', { recursive: true }),
        () => fs.mkdir('docs/sub'),
        () => fs.moveFile('src/answer.txt', 'docs/answer.txt'),
      ]) {
        await expect(work()).rejects.toThrow(PermissionError)
        await expect(work()).rejects.toEqual(refused)
      }
      const outside = '../../etc/passwd'
      for (const work of [
        () => fs.readFile(outside),
        () => fs.writeFile(outside, ''),
        () => fs.stat(outside),
        () => fs.exists(outside),
        () => fs.readdir(outside),
        () => fs.copyFile(outside, 'x'),
        () => fs.realpath?.(outside),
      ]) {
        await expect(work()).rejects.toThrow(PermissionError)
      }
      await expect(fs.readFile('a\0b')).rejects.toThrow(/EINVAL/u)
    })
  })
}

describe('a file system', () => {
  it('is ready after init, tells itself, and leaves the workspace open', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    onTestFinished(() => workspace.close())
    const fs = createMastraFilesystem(workspace, { id: 'mine' })
    await fs.init?.()
    expect(fs).toMatchObject({ id: 'mine', name: 'WsFilesystem', provider: 'ws', readOnly: false })
    expect(fs.getInstructions?.()).toContain('start in /.')
    expect(await fs.getInfo?.()).toMatchObject({ id: 'mine', provider: 'ws', readOnly: false })
    await fs.destroy?.()
    expect(await workspace.exists('/')).toBe(true)
  })

  it('is read-only where every mount is', async () => {
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createMemoryAdapter(), access: 'read-only' }],
    })
    onTestFinished(() => workspace.close())
    const fs = createMastraFilesystem(workspace)
    expect(fs.readOnly).toBe(true)
    await expect(fs.writeFile('a', '')).rejects.toThrow(PermissionError)
  })

  it('asks for a workspace', () => {
    expect(() => createMastraFilesystem({} as Workspace)).toThrow(/^EINVAL: createMastraFilesystem: .*createWorkspace/u)
  })
})
