import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { startLoneKeeper } from './support/lone-keeper.ts'

const racerScript = fileURLToPath(new URL('support/exchange.pl', import.meta.url))
const renameat2 = process.arch === 'arm64' ? '276' : '316'
const asRoot = process.getuid?.() === 0
/** A dozen were enough against a keeper that acted by name, to change files outside. */
const exchanges = 60

describeWith([component('perl')], 'reserved names, while a command exchanges what the keeper makes', () => {
  let scratch: ScratchDirectory
  let root: string
  let outside: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-exchange-' })
    root = join(scratch.path, 'work')
    outside = join(scratch.path, 'outside')
    mkdirSync(root)
    give(root)
  })
  afterEach(async () => await scratch.remove())

  for (const host of asRoot ? ['root', 'an ordinary user'] : ['an ordinary user']) {
    it(`[HO1] change neither owner, mode, time, names nor content of anything outside, with ${host} as host`, async () => {
      const isOrdinary = host !== 'root'
      makeOutside(isOrdinary)
      const before = stateOf(outside)
      const state = join(scratch.path, 'state')
      mkdirSync(state, { mode: 0o700 })
      if (isOrdinary) give(state)
      const { owner } = scratch
      const keeper = startLoneKeeper({ state, root, ...(isOrdinary ? { runAs: owner } : { owner }) })
      let done = false
      const rounds = (async () => {
        let refused = 0
        for (let round = 0; !done; round++) {
          const answers = await keeper.place([`.env-${round}`, `a-${round}/b/c`, `a-${round}/d`])
          await keeper.drop(answers.length)
          refused += answers.filter((answer) => !answer.startsWith('placed')).length
        }
        return refused
      })()
      const { uid, gid } = owner
      const racer = spawn(
        '/usr/bin/perl',
        [racerScript, ...[keeper.pid, root, uid, gid, renameat2, outside, join(outside, 'secret')].map(String)],
        { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let exchanged = 0
      for await (const _line of createInterface({ input: racer.stdout })) {
        exchanged += 1
        if (exchanged >= exchanges || stateOf(outside) !== before) break
      }
      const racerEnded = once(racer, 'exit')
      racer.kill()
      await racerEnded
      process.kill(keeper.pid, 'SIGCONT')
      done = true
      const refused = await rounds
      await keeper.end()
      expect(stateOf(outside)).toBe(before)
      expect({ exchanged, isRace: refused > 0 }).toEqual({ exchanged: exchanges, isRace: true })
    })
  }

  function makeOutside(isOrdinary: boolean): void {
    mkdirSync(join(outside, 'empty/deep'), { recursive: true })
    writeFileSync(join(outside, 'secret'), 'mine', { mode: 0o600 })
    if (isOrdinary) for (const path of ['', 'empty', 'empty/deep', 'secret']) give(join(outside, path))
    chmodSync(outside, 0o700)
  }

  function give(path: string): void {
    if (asRoot) chownSync(path, scratch.owner.uid, scratch.owner.gid)
  }
})

function stateOf(path: string): string {
  const { mode, uid, gid, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true })
  const own = [path, mode, uid, gid, mtimeNs, ctimeNs, ino].join(' ')
  if ((mode & 0o170000n) !== 0o040000n) return `${own} ${readFileSync(path, 'latin1')}`
  const below = readdirSync(path)
    .sort()
    .map((name) => stateOf(join(path, name)))
  return [own, ...below].join('\n')
}
