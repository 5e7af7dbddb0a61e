/** @module-tag all */
import { createSandboxClient } from '@ws/bridge-openai-agents'
import type { WorkspaceSandboxSession } from '@ws/bridge-openai-agents'
import { Manifest, SandboxError, SandboxLifecycleError } from '@openai/agents/sandbox'
import type { ManifestInput } from '@openai/agents/sandbox'
import { rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createMarker, describeWith } from '@ws/test-fixtures'
import { png as pngImage } from '@ws/test-fixtures/images'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openFiles, openSite, project, protectDocs, sites } from '@ws/tests-support/bridges'

const png = Uint8Array.from(pngImage())

async function openSession(workspace: Workspace, manifest?: ManifestInput): Promise<WorkspaceSandboxSession> {
  const session = await createSandboxClient(workspace).create(manifest && { manifest })
  onTestFinished(() => session.close())
  return session
}

for (const site of sites) {
  describeWith(site.needs, `a session on ${site.name}`, () => {
    it('[PC7] shows commands, editor and files the same tree', async () => {
      const workspace = await openSite(site, project)
      const session = await openSession(workspace)
      expect(session.state.manifest.root).toBe('/workspace')
      expect(await session.exec({ cmd: 'cat src/answer.txt; echo note >src/n.txt' })).toMatchObject({
        exitCode: 0,
        stdout: 'answer=41\n',
        stderr: '',
        output: 'answer=41\n',
      })
      await session
        .createEditor()
        .updateFile({ type: 'update_file', path: '/workspace/src/answer.txt', diff: '-answer=41\n+answer=42\n' })
      expect(Buffer.from(await session.readFile({ path: '/workspace/src/n.txt' })).toString()).toBe('note\n')
      expect(Buffer.from(await session.readFile({ path: 'src/n.txt', maxBytes: 2 })).toString()).toBe('no')
      expect(await session.execCommand({ cmd: 'sh test.sh' })).toMatch(
        /^Chunk ID.*exited with code 0\nOutput:\n1 passed\n$/su,
      )
      expect(await session.execCommand({ cmd: 'pwd; exit 4', workdir: 'src' })).toMatch(
        /exited with code 4\nOutput:\n.*\/src\n$/su,
      )
      expect(await session.listDir({ path: '' })).toMatchObject([
        { name: 'docs', path: 'docs', type: 'dir' },
        { name: 'src', path: 'src', type: 'dir' },
        { name: 'test.sh', path: 'test.sh', type: 'file' },
      ])
      expect(await session.listDir({ path: 'src' })).toContainEqual({ name: 'n.txt', path: 'src/n.txt', type: 'file' })
      expect(await session.pathExists('src/n.txt')).toBe(true)
      expect(await session.pathExists('src/none')).toBe(false)
      expect([await session.directoryExists('src'), await session.directoryExists('test.sh')]).toEqual([true, false])
    })

    it('goes on with a command that runs longer than its call waits', async () => {
      const session = await openSession(await openSite(site))
      const first = await session.exec({ cmd: 'echo one; sleep 2; echo two; exit 5', yieldTimeMs: 300 })
      expect(first).toMatchObject({ sessionId: 1 })
      expect(first.exitCode).toBeUndefined()
      const last = await session.writeStdin({ sessionId: 1, yieldTimeMs: 30_000 })
      expect(last).toMatch(/exited with code 5/u)
      expect((first.stdout + last.replace(/^.*Output:\n/su, '')).replace(/^one\none/u, 'one')).toBe('one\ntwo\n')
      expect(await session.writeStdin({ sessionId: 1 })).toMatch(/exited with code 1.*session not found: 1/su)
    })

    it('cuts a long output to the tokens that were asked for', async () => {
      const session = await openSession(await openSite(site))
      // the SDK keeps its own notice where it cuts
      expect(await session.execCommand({ cmd: 'seq 1 200000', maxOutputTokens: 50 })).toMatch(
        /\[\.\.\.\d+ characters truncated from process output\.\.\.\]\n/u,
      )
      const text = await session.execCommand({ cmd: 'seq 1 5000', maxOutputTokens: 50 })
      expect(text).toMatch(/Original token count: \d+.*tokens truncated/su)
      expect(text.length).toBeLessThan(500)
    })

    it('says which rule a failed command ran into, and how to go on', async () => {
      const session = await openSession(await openSite(site, project, { rules: [protectDocs] }))
      expect(await session.execCommand({ cmd: 'echo x >docs/guide.md' })).toMatch(/write below `notes`/u)
      const edit = await session.createEditor().createFile({ type: 'create_file', path: 'docs/x', diff: '+x' })
      expect(edit?.output).toMatch(/Write below `notes`.*Next: exec_command \{"cmd":/su)
    })

    it('gives commands the environment of the manifest', async () => {
      const manifest = new Manifest({ environment: { GREETING: 'hello', LATE: () => 'resolved' } })
      const session = await openSession(await openSite(site), manifest)
      expect((await session.exec({ cmd: 'echo $GREETING $LATE' })).stdout).toBe('hello resolved\n')
    })

    it('makes the entries of a manifest, and later ones', async () => {
      const workspace = await openSite(site)
      const session = await openSession(workspace, {
        entries: {
          app: { type: 'dir', children: { 'a.txt': { type: 'file', content: 'a' }, bin: { type: 'dir' } } },
          'run.sh': { type: 'file', content: 'echo ran\n', permissions: 0o755 },
        },
      })
      expect(await workspace.readText('app/a.txt')).toBe('a')
      expect((await workspace.stat('app/bin')).type).toBe('directory')
      await session.materializeEntry({ path: 'app/b.bin', entry: { type: 'file', content: Uint8Array.of(0, 255) } })
      expect([...(await workspace.read('app/b.bin')).bytes]).toEqual([0, 255])
      await session.applyManifest(new Manifest({ entries: { 'c.txt': { type: 'file', content: 'c' } } }))
      expect(Object.keys(session.state.manifest.entries)).toContain('c.txt')
      expect(await workspace.readText('c.txt')).toBe('c')
    })

    it('gives new files the mode 0755 of the SDK, and keeps the mode of others', async () => {
      const workspace = await openSite(site, { 'kept.sh': 'old' })
      await workspace.chmod('kept.sh', 0o640)
      await openSession(workspace, {
        entries: {
          'new.sh': { type: 'file', content: '#!/bin/sh\necho ran\n' },
          'kept.sh': { type: 'file', content: 'new' },
        },
      })
      expect((await workspace.stat('new.sh')).mode).toBe(0o755)
      expect((await workspace.stat('kept.sh')).mode).toBe(0o640)
    })

    it('stores the tree of the workspace, and puts it back', async () => {
      const workspace = await openSite(site, { ...project, 'odd | name': 'x', 'empty/.keep': '' })
      const session = await openSession(workspace, {
        entries: { cache: { type: 'dir', ephemeral: true, children: { f: { type: 'file', content: 'f' } } } },
      })
      await workspace.createSymlink('link', 'src/answer.txt')
      const archive = await session.persistWorkspace()
      await workspace.delete('src', { recursive: true })
      await workspace.write('later.txt', 'later')
      await workspace.write('cache/f', 'changed')
      await session.hydrateWorkspace(archive)
      expect(await workspace.readText('link')).toBe('answer=41\n')
      expect(await workspace.readText('odd | name')).toBe('x')
      expect(await workspace.readText('cache/f')).toBe('changed')
      expect(await workspace.exists('later.txt')).toBe(false)
    })

    it('refuses archives that lead out, are too large, or are none', async () => {
      const workspace = await openSite(site, project)
      const session = await openSession(workspace)
      const archive = await session.persistWorkspace()
      const evil = Buffer.from(archive)
      evil.write('../../../src/evil', evil.indexOf('test.sh'))
      // the checksum of the header covers the name
      await expect(session.hydrateWorkspace(evil)).rejects.toThrow(SandboxError)
      await expect(session.hydrateWorkspace('not a tar')).rejects.toThrow(/not a tar file/u)
      await expect(session.hydrateWorkspace(archive, { archiveLimits: { maxMembers: 1 } })).rejects.toMatchObject({
        message: expect.stringMatching(/^Workspace archive member count exceeds limit\. .*limit of 1;/u),
        details: { reason: 'archive member count exceeds limit', limit: 1, actual: 2, member: expect.any(String) },
      })
      await expect(session.hydrateWorkspace(archive, { archiveLimits: { maxInputBytes: 10 } })).rejects.toMatchObject({
        message: expect.stringMatching(/^Workspace archive input size exceeds limit\. .*limit of 10;/u),
        details: { reason: 'archive input size exceeds limit', limit: 10, actual: archive.length },
      })
      await expect(
        session.hydrateWorkspace(archive, { archiveLimits: { maxExtractedBytes: 3 } }),
      ).rejects.toMatchObject({
        message: expect.stringMatching(/^Workspace archive extracted size exceeds limit\. /u),
        details: { reason: 'archive extracted size exceeds limit', limit: 3, member: expect.any(String) },
      })
      expect(await workspace.readText('src/answer.txt')).toBe('answer=41\n')
    })

    it('ends its commands with itself, and leaves the workspace open', async () => {
      const workspace = await openSite(site)
      const marker = createMarker()
      const session = await openSession(workspace, { environment: { WS_MARK: marker.env.WS_MARK } })
      const { sessionId } = await session.exec({ cmd: 'sleep 300', yieldTimeMs: 300 })
      expect(sessionId).toBe(1)
      await session.close()
      expect(marker.survivors()).toEqual([])
      expect(await session.running()).toBe(false)
      await expect(session.exec({ cmd: 'ls' })).rejects.toThrow(SandboxLifecycleError)
      expect((await workspace.exec('echo open')).stdout).toBe('open\n')
    })
  })
}

describeWith(sites[1]!.needs, 'a session with real processes', () => {
  it('writes to a command that reads', async () => {
    const session = await openSession(await openSite(sites[1]!))
    await session.exec({ cmd: 'read line; echo "got $line"', yieldTimeMs: 200 })
    expect(await session.writeStdin({ sessionId: 1, chars: 'hello\n', yieldTimeMs: 30_000 })).toMatch(
      /code 0\nOutput:\ngot hello\n$/u,
    )
  })

  it('interrupts a command by Ctrl-C, on pipes and on a terminal', async () => {
    const session = await openSession(await openSite(sites[1]!))
    await session.exec({ cmd: 'sleep 300', yieldTimeMs: 200 })
    expect(await session.writeStdin({ sessionId: 1, chars: '\u0003', yieldTimeMs: 30_000 })).toMatch(/code 130/u)
    await session.exec({
      cmd: 'trap "echo stopped; exit 7" INT; echo ready; while :; do sleep 0.1; done',
      tty: true,
      yieldTimeMs: 1_000,
    })
    expect(await session.writeStdin({ sessionId: 2, chars: '\u0003', yieldTimeMs: 30_000 })).toMatch(
      /code 7\nOutput:\n.*stopped/su,
    )
  })

  it('gives a command a terminal where it is asked for', async () => {
    const session = await openSession(await openSite(sites[1]!))
    const { output, exitCode } = await session.exec({ cmd: 'test -t 0 && test -t 1 && echo a terminal', tty: true })
    expect([output, exitCode]).toEqual(['a terminal\r\n', 0])
  })
})

describe('a session', () => {
  it('says that the virtual executor has no terminals', async () => {
    const session = await openSession(await openSite(sites[0]!))
    await expect(session.exec({ cmd: 'ls', tty: true })).rejects.toMatchObject({ code: 'unsupported_feature' })
  })

  it('needs an executor for commands only', async () => {
    const session = await openSession(await openFiles(project))
    expect(session.supportsPty()).toBe(false)
    await expect(session.exec({ cmd: 'ls' })).rejects.toThrow(/pass `executors`/u)
    expect(await session.pathExists('test.sh')).toBe(true)
  })

  it.each<[string, string, { code: string; message?: RegExp; details?: object }]>([
    ['a missing file', 'none.txt', { code: 'workspace_read_not_found' }],
    ['a path outside', '../../etc/passwd', { code: 'invalid_manifest_path', message: /above the root/u }],
    ['a directory', 'src', { code: 'path_resolution_error' }],
    [
      'a denied file',
      'secret',
      { code: 'path_resolution_error', details: { code: 'EACCES', rule: 'hush', remedy: 'go on without it' } },
    ],
  ])('refuses %s with the reason', async (_, path, expected) => {
    const workspace = await openSite(
      sites[0]!,
      { ...project, secret: 'x' },
      { rules: [rules.deny('/secret', { name: 'hush' })] },
    )
    const session = await openSession(workspace)
    const failure = await session.readFile({ path }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(SandboxError)
    const message: unknown = expect.stringMatching(expected.message ?? /./u)
    expect(failure).toMatchObject({ ...expected, message })
  })

  it('shows images, and says in the words of its tool why not', async () => {
    const files = {
      'a.png': png,
      'b.txt': 'text',
      'secret.png': png,
      'large.png': new Uint8Array(10 * 1024 * 1024 + 1),
      'wide.png': pngImage(8, 4, [50_000, 50_000]),
    }
    const session = await openSession(await openSite(sites[0]!, files, { rules: [rules.deny('/secret.png')] }))
    expect(await session.viewImage({ path: 'a.png' })).toMatchObject({
      type: 'image',
      image: { mediaType: 'image/png', data: png },
    })
    await expect(session.viewImage({ path: 'wide.png' })).rejects.toThrow(/50000 × 50000 pixels/u)
    await expect(session.viewImage({ path: 'none.png' })).rejects.toThrow(/not found/u)
    await expect(session.viewImage({ path: '' })).rejects.toThrow(/not a file/u)
    await expect(session.viewImage({ path: 'large.png' })).rejects.toThrow(/exceeds the 10 MB limit/u)
    await expect(session.viewImage({ path: 'b.txt' })).rejects.toThrow(/Unsupported image format/u)
    await expect(session.viewImage({ path: 'secret.png' })).rejects.toMatchObject({
      name: expect.stringMatching(/go on without it/u),
    })
  })

  it('has one user', async () => {
    const session = await openSession(await openSite(sites[0]!))
    await expect(session.exec({ cmd: 'ls', runAs: 'alice' })).rejects.toThrow(/leave out `runAs`/u)
  })
})
