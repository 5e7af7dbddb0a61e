import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { component, createScratchDirectory, describeWith, rounds } from '@ws/test-fixtures'
import { type AccessEvent, prefix, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createMachineLeases, createThreads } from '@ws/threads'
import type { ProvisionEvent } from '../src/provision/types.ts'
import { describe, expect, it } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }

describe('provisioning', () => {
  it('[RP2, RP11] makes the parts in their order, with the marker last, and once', async () => {
    const store = createMemoryAdapter()
    const events: ProvisionEvent[] = []
    const first = await createThreads({ store, onProvision: (event) => events.push(event) })
    const { workspace, ...thread } = await first.open(user)
    const marker = JSON.parse(await workspace.readText('/.workspace_configured')) as unknown
    const leftOut = [{ part: '.venv', reason: 'was left out: the thread has no executor' }]
    expect(marker).toEqual({ version: 1, made: ['.bashrc', '.profile', 'package.json'], leftOut })
    expect(thread.status().leftOut).toEqual(leftOut)
    expect(events.filter(({ state }) => state !== 'started').map(({ part, state }) => `${part} ${state}`)).toEqual([
      '.venv left out',
      '.bashrc made',
      '.profile made',
      'package.json made',
    ])
    const before = await versions(workspace)
    await workspace.write('/package.json', '{"mine":true}')
    await first.close()

    const second = await createThreads({ store })
    const again = await second.open(user)
    expect(await again.workspace.readText('/package.json')).toBe('{"mine":true}')
    const after = await versions(again.workspace)
    expect({ ...after, '/package.json': '' }).toEqual({ ...before, '/package.json': '' })
    await second.close()
  })

  it('[RP11] repairs a thread whose marker is stale', async () => {
    const store = createMemoryAdapter()
    const first = await createThreads({ store })
    const { workspace } = await first.open(user)
    await workspace.delete('/.bashrc')
    await first.close()
    const second = await createThreads({ store })
    expect(await (await second.open(user)).workspace.exists('/.bashrc')).toBe(true)
    await second.close()
  })

  it.each(['not JSON', '{"version":2}', ''])('[RP11] takes a marker that holds %j for none', async (text) => {
    const store = createMemoryAdapter({ files: { '/threads/t1/.workspace_configured': text } })
    const threads = await createThreads({ store })
    const { workspace } = await threads.open(user)
    expect(await workspace.exists('/.profile')).toBe(true)
    expect(JSON.parse(await workspace.readText('/.workspace_configured'))).toMatchObject({ version: 1 })
    await threads.close()
  })

  it('copies a template besides the standard parts, or instead of them', async () => {
    const files = createMemoryAdapter({
      files: {
        '/README.md': 'hi\n',
        '/scripts/run': { content: '#!/bin/sh\n', mode: 0o755 },
        '/link': { target: 'README.md' },
      },
    })
    for (const mode of ['extend', 'replace'] as const) {
      const store = createMemoryAdapter({ files: { '/threads/t1/README.md': 'mine\n' } })
      const threads = await createThreads({ store, template: { files, mode } })
      const { workspace } = await threads.open(user)
      expect(await workspace.readText('/link')).toBe('mine\n')
      expect((await workspace.stat('/scripts/run')).mode).toBe(0o755)
      expect(await workspace.exists('/.bashrc')).toBe(mode === 'extend')
      await threads.close()
    }
  })

  it.each([
    ['/etc/passwd', '/link'],
    ['../../x', '/link'],
    ['../x', '/link'],
  ])('refuses a template with a link to %s, and takes nothing of it', async (target, at) => {
    const files = createMemoryAdapter({ files: { '/a.txt': 'a', [at]: { target } } })
    const store = createMemoryAdapter()
    const threads = await createThreads({ store, template: { files } })
    await expect(threads.open(user)).rejects.toMatchObject({ code: 'EINVAL', path: at, reason: /leads out/ })
    // the others go on
    await expect(store.stat('/threads/t1/a.txt' as never)).rejects.toMatchObject({ code: 'ENOENT' })
    await threads.close()
  })
})

async function versions(workspace: {
  list(path: string, options: object): AsyncIterable<{ path: string; version?: string | undefined }>
}) {
  const found: Record<string, string | undefined> = {}
  for await (const { path, version } of workspace.list('/', { details: true })) found[path] = version
  return found
}

const needed = [component('bubblewrap'), component('python3-venv')]

describeWith(needed, 'provisioning that is killed', () => {
  it(`[RP8, RP11] is completed by the next open, and loses nothing of the user's`, {
    tags: ['all', 'rounds'],
  }, async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    const state = await scratch.createDirectory('state')
    for (const round of rounds({ quick: 1, seconds: 30 })) {
      const root = await scratch.createDirectory(`store${round}`)
      const child = spawn(
        process.execPath,
        ['--conditions=@ws/source', join(import.meta.dirname, 'open-and-wait.ts'), root],
        {
          env: { ...process.env, XDG_STATE_HOME: state },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const ended = once(child, 'exit')
      await once(child.stdout, 'data')
      // the moments spread over the 6 s that it takes, whatever their number: by the golden ratio
      await delay(((round * 0.618 + 0.5) % 1) * 6000)
      child.kill('SIGKILL')
      await ended

      const store = await createLocalAdapter({ root })
      const leases = createMachineLeases({ key: 'test', directory: state })
      const threads = await createThreads({ store, executors: [createBubblewrapExecutor()], leases })
      const { workspace } = await threads.open({ threadId: 't1', userId: 'u1', wait: 5000 })
      expect(await workspace.readText('/mine.txt')).toBe('mine\n')
      expect(JSON.parse(await workspace.readText('/.workspace_configured'))).toMatchObject({ leftOut: [] })
      const { stdout } = await workspace.exec(
        'python -c "import sys; print(sys.prefix)"; python -m pip --version | cut -c1-4',
      )
      expect(stdout).toBe('/.venv\npip \n')
      await threads.close()
      await store.close()
    }
  })
})

describeWith(needed, 'a store without links', () => {
  it('[RP8] gets its `.venv` by copies', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    await using local = await createLocalAdapter({ root: await scratch.createDirectory('store') })
    const capabilities = { ...local.capabilities, symlinks: false }
    // a layer's methods are its own, so they can be left out
    const store = { ...prefix(local, '/'), capabilities }
    delete store.createSymlink
    delete store.readSymlink
    const leases = createMachineLeases({ key: 'test', directory: await scratch.createDirectory('state') })
    await using threads = await createThreads({ store, executors: [createBubblewrapExecutor()], leases })
    const thread = await threads.open(user)
    expect(thread.status().leftOut).toEqual([])
    const { stdout } = await thread.workspace.exec('python -c "import sys; print(sys.prefix)"; find .venv -type l')
    expect(stdout).toBe('/.venv\n')
  })
})

describeWith([...needed, component('npm')], 'programs of a thread', () => {
  it('[RP8] python and node modules are its own', { tags: ['deep'] }, async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    const root = await scratch.createDirectory('store')
    await using store = await createLocalAdapter({ root })
    const leases = createMachineLeases({ key: 'test', directory: await scratch.createDirectory('state') })
    await using threads = await createThreads({ store, executors: [createBubblewrapExecutor()], leases })
    const { workspace } = await threads.open(user)
    await workspace.write('/tool/package.json', '{"name":"tool","version":"1.0.0","bin":"./run.js"}')
    await workspace.write('/tool/run.js', '#!/usr/bin/env node\nconsole.log("own tool")\n', { mode: 0o755 })
    const installed = await workspace.exec('npm install --offline --no-audit --no-fund ./tool')
    expect(installed.exitCode, installed.stderr).toBe(0)
    expect((await workspace.exec('tool; command -v python')).stdout).toBe('own tool\n/.venv/bin/python\n')
  })
})

describe('provisioning under the rules of the operator', () => {
  it('[RU10] passes protectHooks and read-only rules, and the audit hears of it, once', async () => {
    const events: AccessEvent[] = []
    const files = createMemoryAdapter({ files: { '/.git/hooks/pre-commit': 'echo hi\n' } })
    const threads = await createThreads({
      store: createMemoryAdapter(),
      rules: [rules.protectHooks(), rules.readOnly('/package.json')],
      template: { files },
      audit: (event) => events.push(event),
      idleTimeout: 0,
    })
    const thread = await threads.open(user)
    const again = await threads.open(user)
    expect(thread.status().leftOut.map(({ part }) => part)).toEqual(['.venv'])
    expect(await thread.workspace.readText('/.git/hooks/pre-commit')).toBe('echo hi\n')
    const made = events.filter(({ operation, outcome }) => operation === 'write' && outcome === 'allowed')
    expect(made.map(({ path, labels }) => `${path} ${labels['by']}`)).toEqual([
      '/.bashrc provisioning',
      '/.profile provisioning',
      '/package.json provisioning',
      '/.git/hooks/pre-commit provisioning',
      '/.workspace_configured provisioning',
    ])
    // the thread itself is bound by them
    for (const path of ['/.bashrc', '/package.json', '/.git/hooks/pre-commit']) {
      await expect(thread.workspace.write(path, 'x'), path).rejects.toMatchObject({ code: /^(EACCES|EROFS)$/ })
    }
    events.length = 0
    await again.workspace.write('/mine.txt', 'x')
    expect(events.map(({ path }) => path)).toEqual(['/mine.txt'])
    await threads.close()
  })
})
