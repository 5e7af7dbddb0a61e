import { createWorkspace, prefix, WorkspaceError } from '@ws/core'
import {
  defineAdapter,
  keyValueDriver,
  type EntryNote,
  type MountPath,
  type StorageAdapter,
  type AdapterOptions,
} from '@ws/core/adapter'
import type { EndCommand } from '../../src/contract/file-types.ts'
import { type AttachedExecutor, type Executor, getCommandResult, type Guarantees } from '@ws/core/executor'
import { describe, expect, it } from 'vitest'

const interpreter = (value: 'interpreter'): Guarantees => ({
  fileContent: value,
  fileMetadata: value,
  sockets: value,
  network: value,
  processes: value,
  readOnlyMounts: value,
  subtrees: value,
  deniedSubtrees: value,
  apiRules: value,
})

const output = { stdout: '', stderr: '', output: '', stdoutBytes: 0, stderrBytes: 0, truncated: false }

/** Commands that only say when they start and end. `fail` does not start. */
function executorOf(log: string[]): Executor {
  const guarantees = interpreter('interpreter')
  const spawn: AttachedExecutor['spawn'] = async ({ command }) => {
    if (command === 'fail')
      throw new WorkspaceError({ code: 'ENOEXEC', operation: 'exec', reason: 'cannot be started', remedy: 'do not' })
    log.push(`start ${command}`)
    const ended = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      log.push(`end ${command}`)
      return { ...output, exitCode: 0, signal: undefined, timedOut: false, durationMs: 1, executor: 'fake' } as never
    })
    const nothing = async function* (): AsyncGenerator<Uint8Array> {}
    return {
      stdout: nothing(),
      stderr: nothing(),
      output: () => output as never,
      kill: () => false,
      wait: () => ended,
      [Symbol.asyncDispose]: async () => undefined,
    }
  }
  return {
    name: 'fake',
    kind: 'interpreter',
    probe: async () => ({ available: true, guarantees, missing: [], howToFix: [], details: {} }) as never,
    attach: async () => ({ guarantees, spawn, close: async () => undefined }) as never,
  }
}

/** An adapter that logs the commands that it is told of. */
function adapterOf(
  log: string[],
  name: string,
  failing?: 'begin' | 'end',
  notes?: readonly EntryNote[],
): StorageAdapter {
  const driver = keyValueDriver(
    { get: () => undefined, set: () => undefined, delete: () => undefined, keys: () => [] },
    { name },
  )
  const broken = (): WorkspaceError =>
    new WorkspaceError({ code: 'EBACKEND', operation: 'x', reason: 'cannot be reached', remedy: 'try again' })
  const beginCommand = async ({ background = false }: AdapterOptions.BeginCommand): Promise<EndCommand> => {
    if (failing === 'begin') throw broken()
    log.push(`${name} begins${background ? ' in the background' : ''}`)
    return async () => {
      log.push(`${name} ended`)
      if (failing === 'end') throw broken()
      return notes
    }
  }
  return defineAdapter(Object.assign(driver, { beginCommand }))
}

async function siteOf(failing?: 'begin' | 'end') {
  const log: string[] = []
  const mounts = [
    { at: '/', adapter: adapterOf(log, 'first') },
    { at: '/second', adapter: adapterOf(log, 'second', failing) },
  ]
  const workspace = await createWorkspace({ mounts, executors: [executorOf(log)], scratch: false })
  return { log, workspace }
}

describe('an adapter that wants to know of commands', () => {
  it('[RE2] learns of each before it starts, and the result waits until it has taken the end in', async () => {
    const { log, workspace } = await siteOf()
    await workspace.exec('one')
    expect(log).toEqual(['first begins', 'second begins', 'start one', 'end one', 'first ended', 'second ended'])
    log.length = 0
    await (await workspace.start('two')).wait()
    expect(log[0]).toBe('first begins in the background')
    expect(log.slice(-2)).toEqual(['first ended', 'second ended'])
  })

  it('keeps a command from starting, and the others learn that there is none', async () => {
    const { log, workspace } = await siteOf('begin')
    const failure = await workspace.exec('one').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'EBACKEND', operation: 'exec', path: '/second' })
    expect(log).toEqual(['first begins', 'first ended'])
  })

  it('learns that a command did not start after all', async () => {
    const { log, workspace } = await siteOf()
    await expect(workspace.exec('fail')).rejects.toMatchObject({ code: 'ENOEXEC' })
    await expect(workspace.exec('one', { cwd: '/none' })).rejects.toMatchObject({ code: 'ENOENT' })
    expect(log.filter((line) => line.startsWith('first'))).toEqual([
      'first begins',
      'first ended',
      'first begins',
      'first ended',
    ])
  })

  it('[HO5] tells entries that it does not share, by the paths of the workspace, and none outside of a part of it', async () => {
    const at = (path: string): MountPath => path as MountPath
    const notes = [
      { path: at('/t1/a'), reason: 'was changed in the store', kept: at('/t1/a.conflict') },
      { path: at('/t2/secret'), reason: 'is elsewhere' },
    ]
    const mounts = [{ at: '/w', adapter: prefix(adapterOf([], 'told', undefined, notes), '/t1') }]
    const workspace = await createWorkspace({ mounts, executors: [executorOf([])], scratch: false })
    const told = [{ path: '/w/a', reason: 'was changed in the store', kept: '/w/a.conflict' }]
    expect(await workspace.exec('one')).toMatchObject({ exitCode: 0, notes: told })
    const { workspace: silent } = await siteOf()
    expect(await silent.exec('one')).not.toHaveProperty('notes')
  })

  it('makes the command fail whose changes it could not take in, and the result goes along', async () => {
    const { workspace } = await siteOf('end')
    const failure = await workspace.exec('one').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'EBACKEND', operation: 'exec', path: '/second' })
    expect(getCommandResult(failure)).toMatchObject({ exitCode: 0, exitStatus: 0 })
  })
})
