import { createSandboxSession } from '@ws/bridge-ai-sdk'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { openFiles, openSite, project, protectDocs, sites, type Files } from '@ws/tests-support/bridges'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = async (stream: ReadableStream<Uint8Array> | null): Promise<string> =>
  stream === null ? 'null' : new Response(stream).text()

for (const site of sites) {
  describeWith(site.needs, `the sandbox session on ${site.name}`, { tags: site.tags }, () => {
    async function open(files: Files = {}, options = {}) {
      const workspace = await openSite(site, files, options)
      return { workspace, session: createSandboxSession(workspace) }
    }

    it('reads a file as a stream, as bytes and as text, by a relative and an absolute path', async () => {
      const { session, workspace } = await open({ 'a/größe.txt': 'é\n' })
      const { root } = workspace
      for (const path of ['a/größe.txt', `${root === '/' ? '' : root}/a/größe.txt`]) {
        expect(await textOf(await session.readFile({ path }))).toBe('é\n')
        expect(await session.readBinaryFile({ path })).toEqual(bytes('é\n'))
        expect(await session.readTextFile({ path })).toBe('é\n')
      }
    })

    it('gives null for a missing file, also behind a file and a dangling link, and rejects for a directory', async () => {
      const { session, workspace } = await open({ 'd/file': '' })
      await workspace.createSymlink('dangling', 'nowhere')
      for (const path of ['missing', 'missing/below', 'd/file/below', 'dangling']) {
        expect(await session.readFile({ path })).toBeNull()
        expect(await session.readBinaryFile({ path })).toBeNull()
        expect(await session.readTextFile({ path })).toBeNull()
        expect(await session.stat({ path })).toBeNull()
        expect(await session.listDirectory({ path })).toBeNull()
      }
      await expect(session.readFile({ path: 'd' })).rejects.toMatchObject({ code: 'EISDIR' })
      await expect(session.readTextFile({ path: 'd' })).rejects.toMatchObject({ code: 'EISDIR' })
    })

    it('reads lines from 1, both ends included, up to the end of the file', async () => {
      const { session } = await open({ lf: 'a\nb\nc\n', crlf: 'a\r\nb\r\nc' })
      const read = (path: string, startLine?: number, endLine?: number) =>
        session.readTextFile({ path, ...(startLine && { startLine }), ...(endLine && { endLine }) })
      expect(await read('lf', 2, 2)).toBe('b')
      expect(await read('lf', 2)).toBe('b\nc\n')
      expect(await read('lf', undefined, 2)).toBe('a\nb')
      expect(await read('crlf', 1, 2)).toBe('a\r\nb')
      expect(await read('lf', 2, 99)).toBe('b\nc\n')
      expect(await read('lf', 50, 99)).toBe('')
    })

    it('knows encodings, keeps a byte order mark, and refuses bytes that are not text', async () => {
      const { session } = await open({ latin: new Uint8Array([0xe9]), bom: new Uint8Array([0xef, 0xbb, 0xbf, 0x61]) })
      expect(await session.readTextFile({ path: 'latin', encoding: 'latin1' })).toBe('é')
      await expect(session.readTextFile({ path: 'latin' })).rejects.toThrow(/EINVAL.*not UTF-8.*readBinaryFile/u)
      await expect(session.readTextFile({ path: 'latin', encoding: 'klingon' })).rejects.toThrow(/EINVAL.*`klingon`/u)
      const text = (await session.readTextFile({ path: 'bom' })) ?? ''
      await session.writeTextFile({ path: 'bom', content: text })
      expect(await session.readBinaryFile({ path: 'bom' })).toEqual(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))
      await session.writeTextFile({ path: 'wide', content: 'é', encoding: 'utf-16le' })
      expect(await session.readBinaryFile({ path: 'wide' })).toEqual(new Uint8Array([0xe9, 0]))
    })

    it('writes from a stream, bytes and text, makes parents, replaces, and rejects for a directory', async () => {
      const { session } = await open({ 'd/file': 'old content' })
      await session.writeFile({ path: 'new/deep/a', content: new Blob(['stream']).stream() })
      await session.writeBinaryFile({ path: 'new/deep/b', content: bytes('bytes') })
      await session.writeTextFile({ path: 'd/file', content: 'text' })
      expect(await session.readTextFile({ path: 'new/deep/a' })).toBe('stream')
      expect(await session.readTextFile({ path: 'new/deep/b' })).toBe('bytes')
      expect(await session.readTextFile({ path: 'd/file' })).toBe('text')
      await expect(session.writeTextFile({ path: 'd', content: '' })).rejects.toMatchObject({ code: 'EISDIR' })
      await expect(session.writeFile({ path: 'd', content: new Blob(['x']).stream() })).rejects.toMatchObject({
        code: 'EISDIR',
      })
    })

    it('tells type and size behind links, and the types of entries without following them', async () => {
      const { session, workspace } = await open({ 'd/file': 'four', 'd/sub/x': '' })
      await workspace.createSymlink('d/link', 'file')
      await workspace.createSymlink('to-d', 'd')
      expect(await session.stat({ path: 'd/link' })).toEqual({ type: 'file', size: 4 })
      expect(await session.stat({ path: 'to-d' })).toMatchObject({ type: 'directory' })
      const entries = (await session.listDirectory({ path: 'to-d' })) ?? []
      expect(entries.toSorted((one, two) => (one.name < two.name ? -1 : 1))).toEqual([
        { name: 'file', type: 'file' },
        { name: 'link', type: 'symlink' },
        { name: 'sub', type: 'directory' },
      ])
      await expect(session.listDirectory({ path: 'd/file' })).rejects.toMatchObject({ code: 'ENOTDIR' })
    })

    it('deletes a file, a link and not its target, and rejects for a directory, empty or not', async () => {
      const { session, workspace } = await open({ 'd/file': 'x' })
      await workspace.createSymlink('d/link', 'file')
      await workspace.createDirectory('empty')
      expect(await session.deleteFile({ path: 'd/link' })).toBe(true)
      expect(await session.stat({ path: 'd/file' })).not.toBeNull()
      expect(await session.deleteFile({ path: 'd/file' })).toBe(true)
      expect(await session.deleteFile({ path: 'd/file' })).toBe(false)
      expect(await session.deleteFile({ path: 'missing/below' })).toBe(false)
      await expect(session.deleteFile({ path: 'empty' })).rejects.toThrow(/EISDIR.*list what it holds/u)
      await expect(session.deleteFile({ path: '/' })).rejects.toMatchObject({ code: 'EISDIR' })
    })

    it('[PC7] runs commands on the same files, in the base directory or another, with variables', async () => {
      const { session } = await open({ 'd/file': 'content\n' })
      expect(await session.run({ command: 'cat d/file; echo problem >&2; exit 3' })).toEqual({
        exitCode: 3,
        stdout: 'content\n',
        stderr: 'problem\n',
      })
      const elsewhere = await session.run({ command: 'ls; echo "$NAME"', workingDirectory: 'd', env: { NAME: 'a b' } })
      expect(elsewhere.stdout).toBe('file\na b\n')
      await session.run({ command: 'cd d; printf made > made' })
      expect(await session.readTextFile({ path: 'd/made' })).toBe('made')
      expect((await session.run({ command: 'pwd' })).stdout).toBe((await session.run({ command: 'cd; pwd' })).stdout)
    })

    it('streams what a process prints, and tells its exit code', async () => {
      const { session } = await open()
      const process = await session.spawn({ command: 'echo out; echo err >&2; exit 5' })
      expect(process).not.toHaveProperty('stdin')
      expect(await Promise.all([textOf(process.stdout), textOf(process.stderr), process.wait()])).toEqual([
        'out\n',
        'err\n',
        { exitCode: 5 },
      ])
    })

    it('ends a process, twice and after its end too', async () => {
      const { session } = await open()
      const process = await session.spawn({ command: 'sleep 300' })
      await process.kill()
      await process.kill()
      expect((await process.wait()).exitCode).not.toBe(0)
    })

    it('aborts reads, writes, commands and processes with the reason', async () => {
      const { session } = await open({ file: 'x' })
      const reason = new Error('stop')
      const abortSignal = AbortSignal.abort(reason)
      await expect(session.readTextFile({ path: 'file', abortSignal })).rejects.toBe(reason)
      await expect(session.writeTextFile({ path: 'file', content: 'y', abortSignal })).rejects.toBe(reason)
      await expect(session.listDirectory({ path: '.', abortSignal })).rejects.toBe(reason)
      await expect(session.deleteFile({ path: 'file', abortSignal })).rejects.toBe(reason)
      expect(await session.readTextFile({ path: 'file' })).toBe('x')
      const controller = new AbortController()
      const process = await session.spawn({ command: 'echo begun; sleep 300', abortSignal: controller.signal })
      const ended = process.wait()
      controller.abort(reason)
      await expect(ended).rejects.toBe(reason)
      await expect(session.run({ command: 'sleep 300', abortSignal })).rejects.toBe(reason)
    })

    it('refuses paths outside, and what rules forbid at both doors, each with its remedy', async () => {
      const { session } = await open(project, { rules: [protectDocs] })
      const outside = { path: '../../etc/passwd' }
      await expect(session.readTextFile(outside)).rejects.toMatchObject({ code: 'EOUTSIDE' })
      await expect(session.stat(outside)).rejects.toMatchObject({ code: 'EOUTSIDE' })
      await expect(session.writeTextFile({ ...outside, content: '' })).rejects.toMatchObject({ code: 'EOUTSIDE' })
      await expect(session.deleteFile(outside)).rejects.toMatchObject({ code: 'EOUTSIDE' })
      await expect(session.writeTextFile({ path: 'docs/a.md', content: '' })).rejects.toThrow(/write below `notes`/u)
      const { exitCode, stderr } = await session.run({ command: 'echo x > docs/guide.md' })
      expect(exitCode).not.toBe(0)
      expect(stderr).toMatch(/Note: rule docs-are-written-elsewhere protects .*; write below `notes`\./u)
      expect(await session.readTextFile({ path: 'docs/guide.md' })).toBe('# Guide\n')
    })

    it('keeps a link that a command made inside the workspace', async () => {
      const { session } = await open()
      await session.run({ command: 'ln -s /etc/passwd stolen; ln -s ../../../../etc up' })
      expect(await session.readTextFile({ path: 'stolen' })).toBeNull()
      expect(await session.readTextFile({ path: 'up/passwd' })).toBeNull()
    })

    it('says 126 for a command that is refused, and why', async () => {
      const { session } = await open()
      expect(await session.run({ command: 'ls', workingDirectory: 'missing' })).toEqual({
        exitCode: 126,
        stdout: '',
        stderr: expect.stringMatching(/^ENOENT: exec: .*missing/u),
      })
      await expect(session.spawn({ command: 'ls', workingDirectory: 'missing' })).rejects.toMatchObject({
        code: 'ENOENT',
      })
    })

    it('keeps standard input open where it is asked to', async () => {
      const { session } = await open()
      const process = await session.spawn({ command: 'cat', stdin: true })
      const writer = process.stdin.getWriter()
      await writer.write(bytes('one\n'))
      await writer.write(bytes('two\n'))
      await writer.close()
      expect(await textOf(process.stdout)).toBe('one\ntwo\n')
      expect(await process.wait()).toEqual({ exitCode: 0 })
    })

    it('describes the root', async () => {
      const { session, workspace } = await open()
      expect(session.description).toContain(`start in ${workspace.root}.`)
      expect(createSandboxSession(workspace, { description: 'mine' }).description).toBe('mine')
    })
  })
}

describe('bad input', () => {
  it('asks for a workspace, and for an executor', async () => {
    expect(() => createSandboxSession({} as Workspace)).toThrow(/^EINVAL: createSandboxSession: .*createWorkspace/u)
    const files = await openFiles()
    expect(() => createSandboxSession(files)).toThrow(/^ENOEXECUTOR: createSandboxSession: .*executors/u)
  })
})
