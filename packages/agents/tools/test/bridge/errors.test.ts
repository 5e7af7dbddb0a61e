import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { checkExecutor, checkFramework, checkWorkspace, ifThere, isWorkspace, orError, wordsOf } from '@ws/tools/bridge'
import { describe, expect, it, onTestFinished } from 'vitest'

async function open(): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    rules: [rules.deny('/secret')],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

describe('errors as text', () => {
  it('keeps code, path, reason and remedy', async () => {
    const workspace = await open()
    expect(await orError(() => workspace.readText('/secret/a'))).toEqual({
      error: expect.stringMatching(/^EACCES: read: `\/secret\/a` .*; go on without it$/u),
    })
    expect(await orError(() => Promise.resolve(1))).toBe(1)
  })

  it('leaves out the words of foreign errors: they may name host paths', async () => {
    expect(wordsOf(new Error('/home/ann/.ssh/key'))).toMatch(/^EIO: (?!.*\.ssh)/u)
    expect(wordsOf('text')).toMatch(/^EIO: /u)
  })

  it('lets an abort through, with its reason', async () => {
    const workspace = await open()
    const reason = new Error('stop')
    const signal = AbortSignal.abort(reason)
    await expect(orError(() => workspace.readText('/a', { signal }), signal)).rejects.toBe(reason)
  })

  it('gives undefined for a missing entry only', async () => {
    const workspace = await open()
    await workspace.write('/file', 'text')
    expect(await ifThere(workspace.stat('/missing'))).toBeUndefined()
    expect(await ifThere(workspace.stat('/file/below'))).toBeUndefined()
    expect(await ifThere(workspace.stat('/file'))).toMatchObject({ type: 'file' })
    await expect(ifThere(workspace.readText('/secret/a'))).rejects.toMatchObject({ code: 'EACCES' })
  })
})

describe('checks', () => {
  it('knows a workspace, and says what is wanted instead of anything else', async () => {
    const workspace = await open()
    expect(isWorkspace(workspace)).toBe(true)
    for (const given of [undefined, null, {}, 'workspace', { read: 1, write: 1, exec: 1, explain: 1 }]) {
      expect(isWorkspace(given)).toBe(false)
      expect(() => checkWorkspace(given, 'createTools')).toThrow(
        'EINVAL: createTools: the workspace must be one that `createWorkspace` made; pass the result of',
      )
    }
    checkWorkspace(workspace, 'createTools')
  })

  it('asks for an executor', async () => {
    const workspace = await open()
    expect(() => checkExecutor(workspace, 'createSandbox')).toThrow(/^ENOEXECUTOR: createSandbox: .*pass `executors`/u)
  })

  it.each([
    ['7.0.173', '7.0.173', true],
    ['7.0.174', '7.0.173', true],
    ['7.1.0', '7.0.173', true],
    ['7.0.99', '7.0.173', false],
    ['8.0.0', '7.0.173', false],
    ['6.9.9', '7.0.173', false],
    ['0.20.3', '0.20.0', true],
    ['0.21.0', '0.20.0', false],
    ['7.0.173-beta.1', '7.0.173', false],
  ])('version %s of a framework that works from %s on: %s', (version, from, works) => {
    const check = () => checkFramework('@ws/bridge-x', { name: 'x', from, version, importer: import.meta.url })
    if (works) check()
    else expect(check).toThrow(`ENOTSUP: @ws/bridge-x: version ${version} of \`x\` is not supported; install version ^`)
  })

  it('finds the installed version, and takes none for a bundle', () => {
    const importer = import.meta.url
    const check = (name: string) => () => checkFramework('@ws/bridge-x', { name, from: '99.0.0', importer })
    expect(check('vitest')).toThrow(
      /version \d+\.\d+\.\d+ of `vitest` is not supported; install version \^99\.0\.0 of it/u,
    )
    check('@ws/no-such-package')()
  })
})
