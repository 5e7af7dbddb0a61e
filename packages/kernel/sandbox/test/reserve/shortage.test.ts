import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { VirtualPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { type HostPath, shortages } from '@ws/core/executor'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { useNameKeeper } from '../../src/reserve/reserve.ts'
import { startLoneKeeper } from './support/lone-keeper.ts'

describeWith([component('perl'), component('tmpfs')], 'reserving a name without space', () => {
  let scratch: ScratchDirectory
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-short-' })
    vi.stubEnv('WS_STATE_DIRECTORY', join(scratch.path, 'state'))
    for (const name of ['state', 'work']) {
      mkdirSync(join(scratch.path, name))
      const options = 'size=64k,nr_inodes=12,mode=0700'
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'short', join(scratch.path, name)])
    }
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    for (const name of ['state', 'work']) execFileSync('umount', ['-l', join(scratch.path, name)])
    await scratch.remove()
  })

  function fill(name: string): () => void {
    const made: string[] = []
    try {
      for (let index = 0; ; index++) {
        const path = join(scratch.path, name, `filler-${index}`)
        writeFileSync(path, '')
        made.push(path)
      }
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
    return () => made.forEach((path) => rmSync(path))
  }

  it.each(['work', 'state'])('[HO2] on the disk of the %s is a shortage, and passes with it', async (full) => {
    const keeper = useNameKeeper()
    const root = join(scratch.path, 'work') as HostPath
    const wanted = { name: { root, path: '/.git/hooks' as MountPath }, at: '/.git/hooks' as VirtualPath }
    const reserve = async () => await keeper.reserve([wanted], scratch.owner)
    try {
      await (await reserve()).release()
      const giveBack = fill(full)
      const error = await reserve().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(error).toMatchObject({ code: 'ENOSPC', path: '/.git/hooks', remedy: 'free some space' })
      expect(shortages.of(error)?.code).toBe('ENOSPC')
      giveBack()
      await (await reserve()).release()
      expect(readdirSync(root)).toEqual([])
    } finally {
      keeper.close()
    }
  })
})

describeWith([component('perl')], 'a keeper without descriptors', () => {
  let scratch: ScratchDirectory
  let root: string
  let state: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-short-' })
    ;[root, state] = [join(scratch.path, 'work'), join(scratch.path, 'state')]
    for (const path of [root, state]) mkdirSync(path)
  })
  afterEach(async () => await scratch.remove())
  const start = () => startLoneKeeper({ state, root })
  const limit = (pid: number, count: number) => execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${count}:`])
  const notes = () => readdirSync(state).filter((name) => /\.\d+$/.test(name))

  it('[HO2] says so, leaves nothing, and takes no name from another keeper', async () => {
    const other = start()
    await other.place(['.env', '.git/hooks'])
    const own = start()
    const answers = new Set<string>()
    for (let count = 4; count < 18; count++) {
      limit(own.pid, count)
      const placed = await own.place(['.env', '.git/hooks/x', 'new/deep/er'], ['', 'content'])
      for (const answer of placed) answers.add(answer.replace(/ \d+:\d+/, ''))
      await own.drop(placed.length)
      expect(readdirSync(root).sort()).toEqual(['.env', '.git'])
    }
    // The other name is a directory, and a file was asked for.
    expect([...answers].sort()).toEqual(['changed', 'placed', 'short 24'])
    const shared = ['.env', '.git/hooks']
    await own.place(shared)
    limit(own.pid, 4)
    await own.drop(shared.length)
    limit(own.pid, 100)
    expect(readdirSync(root).sort()).toEqual(['.env', '.git'])
    await other.drop(2)
    await own.sweep()
    await Promise.all([own.end(), other.end()])
    expect(readdirSync(root)).toEqual([])
    expect(notes()).toEqual([])
  })

  it('[HO2] watches no process without saying so, and ends one that it can', async () => {
    const keeper = start()
    const child = spawn('sleep', ['60'])
    const ended = once(child, 'exit')
    await once(child, 'spawn')
    const pid = child.pid ?? 0
    const startTime = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ')[21] ?? ''
    await keeper.sweep()
    const open = new Set(readdirSync(`/proc/${keeper.pid}/fd`).map(Number))
    const next = Array.from({ length: open.size + 1 }, (_, fd) => fd).find((fd) => !open.has(fd)) ?? 0
    for (const more of [0, 1]) {
      expect(existsSync(`/proc/${pid}/cwd`)).toBe(true)
      // First it cannot name the process, then it can, and cannot look at it.
      limit(keeper.pid, next + more)
      expect(await keeper.watch(pid, startTime, ['/'])).toBe('lost w')
    }
    expect(await ended).toEqual([null, 'SIGKILL'])
    await keeper.end()
  })
})
