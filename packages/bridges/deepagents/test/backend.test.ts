import { createBackend, createSandboxBackend } from '@ws/bridge-deepagents'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { png as pngImage } from '@ws/test-fixtures/images'
import { isSandboxBackend } from 'deepagents'
import { describe, expect, it } from 'vitest'

import { openFiles, openSite, project, protectDocs, sites, type Files } from '@ws/tests-support/bridges'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const pathsOf = (files: readonly { readonly path: string }[] | undefined): string[] =>
  (files ?? []).map(({ path }) => path)
const png = Uint8Array.from(pngImage())
const other = new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0])

for (const site of sites) {
  describeWith(site.needs, `the backend on ${site.name}`, { tags: site.tags }, () => {
    const at = (path: string) => `${site.at === '/' ? '' : site.at}/${path}`

    async function open(files: Files = {}, options = {}) {
      const workspace = await openSite(site, files, options)
      return { workspace, backend: createSandboxBackend(workspace) }
    }

    it('is a sandbox backend with a name of its own', async () => {
      const { backend, workspace } = await open()
      expect(isSandboxBackend(backend)).toBe(true)
      expect(backend.id).not.toBe(createSandboxBackend(workspace).id)
      expect(createSandboxBackend(workspace, { id: 'mine' }).id).toBe('mine')
    })

    it('lists absolute paths, directories with a slash at their end, dotfiles too, and links as what is behind', async () => {
      const { backend, workspace } = await open({ 'd/b.txt': 'four', 'd/.hidden': '', 'd/sub/x': '' })
      await workspace.createSymlink('d/link', 'sub')
      const { files = [] } = await backend.ls(`${at('d')}/`)
      expect(files).toEqual([
        expect.objectContaining({ path: at('d/.hidden'), is_dir: false }),
        expect.objectContaining({ path: at('d/b.txt'), is_dir: false, size: 4 }),
        expect.objectContaining({ path: at('d/link/'), is_dir: true }),
        expect.objectContaining({ path: at('d/sub/'), is_dir: true }),
      ])
      expect(Date.parse(files[1]?.modified_at ?? '')).toBeGreaterThan(0)
      expect(await backend.ls(at('missing'))).toEqual({ files: [] })
      expect(await backend.ls(at('d/b.txt'))).toEqual({ error: expect.stringContaining('ENOTDIR') })
    })

    it('reads pages of lines, and says where to go on', async () => {
      const { backend } = await open({ 'f.txt': 'a\nb\nc\n', 'no-end.txt': 'a\nb', 'e.txt': '' })
      const path = at('f.txt')
      const whole = { mimeType: 'text/plain', totalLines: 3, startLine: 1, endLine: 3 }
      expect(await backend.read(path)).toEqual({ content: 'a\nb\nc\n', ...whole })
      expect(await backend.read(path, 0, 3)).toEqual({ content: 'a\nb\nc', ...whole })
      expect(await backend.read(path, 1, 1)).toEqual({
        ...whole,
        content: 'b',
        startLine: 2,
        endLine: 2,
        nextOffset: 2,
      })
      expect(await backend.read(path, -5, 1.9)).toMatchObject({ content: 'a', nextOffset: 1 })
      expect(await backend.read(path, 0, 0)).toEqual({ content: '', mimeType: 'text/plain' })
      expect(await backend.read(path, 3, 9)).toEqual({ error: expect.stringMatching(/offset 3 exceeds file length/u) })
      expect(await backend.read(at('no-end.txt'), 1)).toMatchObject({ content: 'b', totalLines: 2, endLine: 2 })
      const empty = 'System reminder: File exists but has empty contents'
      expect(await backend.read(at('e.txt'))).toEqual({ content: empty, mimeType: 'text/plain' })
      expect(await backend.readRaw(at('e.txt'))).toMatchObject({ data: { content: '' } })
      expect(await backend.read(at('missing.txt'))).toEqual({ error: expect.stringMatching(/not found.*ENOENT/u) })
    })

    it('reads 500 lines without a limit, and a file above 8 MiB without counting', async () => {
      const lines = Array.from({ length: 700 }, (_, line) => `line ${line + 1}`)
      const { backend } = await open({ 'a.txt': lines.join('\n'), 'big.txt': `${'x'.repeat(99)}\n`.repeat(90_000) })
      expect(await backend.read(at('a.txt'))).toMatchObject({ endLine: 500, totalLines: 700, nextOffset: 500 })
      const big = await backend.read(at('big.txt'), 80_000, 2)
      expect(big).toEqual({
        content: `${'x'.repeat(99)}\n${'x'.repeat(99)}`,
        mimeType: 'text/plain',
        startLine: 80_001,
        endLine: 80_002,
        nextOffset: 80_002,
      })
      expect(await backend.read(at('big.txt'), 90_000)).toEqual({ error: expect.stringContaining('exceeds') })
    })

    it('reads media as bytes with their type, and refuses other binary files with a way to go on', async () => {
      const { backend } = await open({ 'a.png': png, 'a.bin': other, 'a.ts': 'const a = 1\n' })
      expect(await backend.read(at('a.png'))).toEqual({ content: png, mimeType: 'image/png' })
      expect(await backend.read(at('a.ts'))).toMatchObject({ content: 'const a = 1\n', mimeType: 'text/plain' })
      expect(await backend.read(at('a.bin'))).toEqual({ error: expect.stringMatching(/binary file; .*command/u) })
      expect((await backend.readRaw(at('a.bin'))).data).toMatchObject({
        content: other,
        mimeType: 'application/octet-stream',
        modified_at: expect.stringMatching(/^\d{4}-.*Z$/u),
      })
      expect((await backend.readRaw(at('a.ts'))).data).toMatchObject({ content: 'const a = 1\n' })
      expect(await backend.readRaw(at('missing'))).toEqual({ error: expect.stringContaining('not found') })
    })

    it('writes, makes parents, overwrites, keeps the content as it is, and gives the version', async () => {
      const { backend, workspace } = await open()
      const path = `${at('new')}//deep///f.txt`
      const odd = 'Tab\there $VAR `x` \\ \u{1F44B}\r\n\n\n'
      expect(await backend.write(path, 'old')).toMatchObject({ path, filesUpdate: null })
      const { error, metadata } = await backend.write(path, odd)
      expect(error).toBeUndefined()
      expect(await workspace.readText('new/deep/f.txt')).toBe(odd)
      expect(metadata?.['version']).toBe((await workspace.stat('new/deep/f.txt')).version)
      expect(await backend.write(at('new'), 'x')).toEqual({ error: expect.stringContaining('EISDIR') })
    })

    it('writes media from Base64, and refuses other text for them', async () => {
      const { backend, workspace } = await open()
      expect((await backend.write(at('a.png'), Buffer.from(png).toString('base64'))).error).toBeUndefined()
      expect((await workspace.read('a.png')).bytes).toEqual(png)
      expect(await backend.write(at('a.png'), 'a picture!')).toEqual({ error: expect.stringContaining('not Base64') })
    })

    it('edits one place or all, and says which it is not', async () => {
      const { backend, workspace } = await open({ 'f.txt': 'apple\r\npear\r\napple $1\r\n' })
      const edit = (old: string, replacement: string, all?: boolean) => backend.edit(at('f.txt'), old, replacement, all)
      expect(await edit('apple', 'fig')).toEqual({ error: expect.stringMatching(/^Multiple.*`replace_all`/su) })
      expect(await edit('plum', 'fig')).toEqual({ error: expect.stringMatching(/not found/u) })
      expect(await edit('pear\napple $1', 'pear\nfig $&')).toMatchObject({ occurrences: 1, path: at('f.txt') })
      expect(await workspace.readText('f.txt')).toBe('apple\r\npear\r\nfig $&\r\n')
      expect(await edit('p', 'b', true)).toMatchObject({ occurrences: 3, filesUpdate: null })
      expect(await edit('fig', 'fig')).toMatchObject({ occurrences: 1 })
      expect(await edit('', 'x')).toEqual({ error: expect.stringContaining('`old_string`') })
      await workspace.write('empty', '')
      expect(await backend.edit(at('empty'), '', 'x')).toMatchObject({ occurrences: 0, path: at('empty') })
      expect(await workspace.readText('empty')).toBe('x')
      expect(await backend.edit(at('missing'), 'a', 'b')).toEqual({ error: expect.stringMatching(/not found/u) })
      expect(await workspace.exists('missing')).toBe(false)
    })

    it('greps for literal text, with a glob, a cap, and line numbers', async () => {
      const { backend } = await open({
        'g/a.txt': 'Hello $1\nhello\n',
        'g/sub/b.py': 'x\nHello $1 [a-z]*\n',
        'g/c.png': png,
      })
      const base = at('g')
      const first = { path: at('g/a.txt'), line: 1, text: 'Hello $1' }
      const second = { path: at('g/sub/b.py'), line: 2, text: 'Hello $1 [a-z]*' }
      expect((await backend.grep('Hello $1', base)).matches).toEqual(expect.arrayContaining([first, second]))
      expect(await backend.grep('[a-z]*')).toEqual({ matches: [second] })
      expect(await backend.grep('Hello', base, '*.py')).toEqual({ matches: [second] })
      expect(await backend.grep('Hello', at('g/a.txt'))).toEqual({ matches: [first] })
      const capped = await backend.grep('Hello', base, null, 1)
      expect(capped).toMatchObject({ truncated: true, matches: [expect.anything()] })
      expect(await backend.grep('Hello', base, null, 0)).toEqual({ matches: [], truncated: true })
      expect(await backend.grep('nothing', base)).toEqual({ matches: [] })
      expect(await backend.grep('x', at('missing'))).toEqual({ matches: [] })
    })

    it('globs below its base, with paths relative to it', async () => {
      const { backend } = await open({ 'g/a.txt': '', 'g/.h': '', 'g/b.py': '', 'g/sub/c.txt': '', 'g/file10.txt': '' })
      const glob = async (pattern: string, path?: string) => pathsOf((await backend.glob(pattern, path)).files)
      expect(await glob('*.txt', at('g'))).toEqual(['a.txt', 'file10.txt'])
      expect(await glob('**/*.txt', at('g'))).toEqual(['a.txt', 'file10.txt', 'sub/c.txt'])
      expect(await glob('[a-b].*', at('g'))).toEqual(['a.txt', 'b.py'])
      expect(await glob('.*', at('g'))).toEqual(['.h'])
      expect(await glob(`${at('g')}/*.py`, at('g'))).toEqual(['b.py'])
      expect(await glob('g/*.py')).toEqual(['g/b.py'])
      expect((await backend.glob('*', at('g'))).files).toContainEqual(
        expect.objectContaining({ path: 'sub', is_dir: true }),
      )
      expect(await backend.glob('*.txt', at('missing'))).toEqual({ files: [], truncated: false })
      expect(await backend.glob('[', at('g'))).toEqual({ error: expect.stringContaining('EINVAL') })
    })

    it('deletes files and directories, links as links, and nothing that is not there', async () => {
      const { backend, workspace } = await open({ 'd/a': '', 'd/sub/b': '', keep: 'x' })
      await workspace.createSymlink('d/link', '../keep')
      expect(await backend.delete(at('d/link'))).toEqual({ path: at('d/link'), filesUpdate: null })
      expect(await backend.delete(at('d'))).toEqual({ path: at('d'), filesUpdate: null })
      expect(await workspace.exists('d')).toBe(false)
      expect(await workspace.readText('keep')).toBe('x')
      expect(await backend.delete(at('d'))).toEqual({ error: expect.stringContaining('not found') })
      expect(await backend.delete(site.at)).toEqual({ error: expect.stringContaining('EBUSY') })
    })

    it('uploads and downloads several files, each with an outcome of its own', async () => {
      const { backend } = await open({ 'd/a': 'x' }, { rules: [protectDocs] })
      const files: [string, Uint8Array][] = [
        [at('up/1.txt'), bytes('one')],
        [at('d'), bytes('x')],
        [at('docs/1.txt'), bytes('x')],
        ['../../x', bytes('x')],
      ]
      expect((await backend.uploadFiles(files)).map(({ error }) => error)).toEqual([
        null,
        'is_directory',
        'permission_denied',
        'invalid_path',
      ])
      expect(await backend.downloadFiles([at('up/1.txt'), at('missing'), at('d')])).toEqual([
        { path: at('up/1.txt'), content: bytes('one'), error: null },
        { path: at('missing'), content: null, error: 'file_not_found' },
        { path: at('d'), content: null, error: 'is_directory' },
      ])
    })

    it('[PC7] runs commands on the same files, with both streams and the exit code', async () => {
      const { backend } = await open({ 'd/a': 'content\n' })
      expect(await backend.execute(`cat ${at('d/a')}; exit 42`)).toEqual({
        output: 'content\n',
        exitCode: 42,
        truncated: false,
      })
      expect((await backend.execute('echo problem >&2')).output).toBe('problem\n')
      await backend.execute('printf made > d/made')
      expect(await backend.read(at('d/made'))).toMatchObject({ content: 'made' })
      expect((await backend.execute('no-such-command-1')).exitCode).toBe(127)
    })

    it('ends a command after its timeout, and refuses what rules forbid at both doors, with the remedy', async () => {
      const { workspace, backend } = await open(project, { rules: [protectDocs] })
      expect(await createSandboxBackend(workspace, { timeout: 100 }).execute('sleep 300')).toMatchObject({
        exitCode: 124,
        output: expect.stringContaining('timeout'),
      })
      const remedy = expect.stringContaining('write below `notes`')
      expect(await backend.write(at('docs/a.md'), '')).toEqual({ error: remedy })
      expect(await backend.edit(at('docs/guide.md'), 'Guide', 'x')).toEqual({
        error: expect.stringMatching(/[Ww]rite below `notes`/u),
      })
      expect(await backend.delete(at('docs'))).toEqual({ error: remedy })
      expect(await backend.execute('echo x > docs/guide.md')).toMatchObject({ output: remedy })
      expect(await workspace.readText('docs/guide.md')).toBe('# Guide\n')
    })

    it('refuses paths outside in every method, and throws in none', async () => {
      const { backend } = await open()
      const path = '../../etc/passwd'
      const outside = { error: expect.stringContaining('EOUTSIDE') }
      expect(await backend.ls(path)).toEqual(outside)
      expect(await backend.read(path)).toEqual(outside)
      expect(await backend.readRaw(path)).toEqual(outside)
      expect(await backend.write(path, '')).toEqual(outside)
      expect(await backend.edit(path, 'a', 'b')).toEqual(outside)
      expect(await backend.grep('root', path)).toEqual(outside)
      expect(await backend.glob('*', path)).toEqual(outside)
      expect(await backend.delete(path)).toEqual(outside)
      for (const odd of ['a\0b', '\uD800', 'x'.repeat(5000), 7 as never]) {
        expect(await backend.read(odd)).toHaveProperty('error')
        expect(await backend.write(odd, '')).toHaveProperty('error')
      }
      await backend.execute('ln -s /etc/passwd stolen')
      expect(await backend.read(at('stolen'))).toHaveProperty('error')
    })

    it('answers on a closed workspace too', async () => {
      const { backend, workspace } = await open()
      await workspace.close()
      expect(await backend.read(at('a'))).toEqual({ error: expect.stringContaining('ECLOSED') })
      expect(await backend.execute('ls')).toMatchObject({ exitCode: 126, output: expect.stringContaining('ECLOSED') })
    })
  })
}

describe('bad input', () => {
  it('asks for a workspace, an executor and a timeout', async () => {
    expect(() => createBackend({} as Workspace)).toThrow(/^EINVAL: createBackend: .*createWorkspace/u)
    const files = await openFiles()
    expect(() => createSandboxBackend(files)).toThrow(/^ENOEXECUTOR: createSandboxBackend: /u)
    const [memory] = sites
    if (memory === undefined) throw new Error('there is a site')
    const workspace = await openSite(memory)
    expect(() => createSandboxBackend(workspace, { timeout: 0 })).toThrow(/`timeout` must be a whole number from 1/u)
  })
})
