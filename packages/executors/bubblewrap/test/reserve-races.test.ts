/** @module-tag all */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { chown, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules } from '@ws/core'
import { component, createScratchDirectory, describeWith, type ScratchDirectory, deep, rounds } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { formOf, isBelow, isWarm, modes, namesBelow, needed } from './support/workbench.ts'

const worker = fileURLToPath(new URL('support/worker.ts', import.meta.url))

// names are reserved by the same code whether a sandbox was ready or not, and `npm test` shows it at `/`
for (const mode of modes.filter((one) => !isWarm(one))) {
  const tags = mode === 'direct' ? ['rounds'] : ['deep']
  describeWith([...needed[mode], component('perl')], `reserved names under attack (${mode})`, () => {
    let scratch: ScratchDirectory
    let root: string
    const top = isBelow(mode) ? '/workspace' : '/'
    const at = (path: string) => (isBelow(mode) ? top + path : path)
    const children: ChildProcess[] = []
    beforeEach(async () => {
      scratch = await createScratchDirectory({ prefix: 'ws-races-' })
      root = join(scratch.path, 'work')
      await mkdir(root)
      await give(root)
    })
    afterEach(async () => {
      for (const child of children.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await scratch.remove()
    })

    async function give(path: string): Promise<void> {
      if (process.getuid?.() === 0) await chown(path, scratch.owner.uid, scratch.owner.gid)
    }
    function start(names: [string, string][], command: string, count: number, parallel = 1): ChildProcess {
      const argv = ['--conditions=@ws/source', worker, root, top, JSON.stringify(names), command]
      const child = spawn(process.execPath, [...argv, String(count), String(parallel), mode], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      return child
    }
    async function linesOf(child: ChildProcess): Promise<string[]> {
      let text = ''
      child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
      await once(child, 'close')
      return text.trim().split('\n').slice(1)
    }
    async function runOnce(): Promise<void> {
      await using workspace = await createWorkspace({
        mounts: [{ at: top, adapter: await createLocalAdapter({ root }) }],
        rules: [rules.deny(at('/.env')), rules.readOnly(at('/.git/hooks'))],
        executors: [createBubblewrapExecutor(formOf(mode))],
      })
      await workspace.exec('true', { login: false, shell: '/bin/sh' })
    }

    it('[RU2] leave nothing after kill -9 at any moment, with or without their keeper', { tags }, async () => {
      await mkdir(join(root, 'mine'))
      await writeFile(join(root, 'empty'), '')
      for (const round of rounds({ quick: 2, seconds: 5 })) {
        const names: [string, string][] = [
          ['deny', at('/.env')],
          ['readOnly', at('/.git/hooks')],
          ['deny', at('/mine/.env')],
        ]
        const child = start(names, 'sleep 0.05', 1000, 3)
        if (child.stdout !== null) await once(child.stdout, 'data')
        // From the first moment to the middle of things.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 150))
        const keeper = round % 2 === 0 ? keeperOf(child.pid ?? 0) : undefined
        if (keeper !== undefined) process.kill(keeper, 'SIGKILL')
        child.kill('SIGKILL')
        await once(child, 'exit')
        await runOnce()
        await expect.poll(() => namesBelow(root)).toEqual(['empty', 'mine'])
        // An entry that a user makes at that name in between stays the user's.
        if (round % 3 === 0) writeFileSync(join(root, '.env'), '')
        else if (round % 3 === 1) await mkdir(join(root, '.env'))
        const before = round % 3 < 2 ? lstatSync(join(root, '.env'), { bigint: true }) : undefined
        await runOnce()
        if (before !== undefined) {
          const after = lstatSync(join(root, '.env'), { bigint: true })
          expect([after.ino, after.mtimeNs, after.mode]).toEqual([before.ino, before.mtimeNs, before.mode])
          await rm(join(root, '.env'), { recursive: true })
        }
        expect(await namesBelow(root)).toEqual(['empty', 'mine'])
      }
    })

    it('[RU2] hold for two processes with different rules, 20 commands at once', {
      tags,
      timeout: 120_000,
    }, async () => {
      await mkdir(join(root, 'dir'))
      await give(join(root, 'dir'))
      const count = deep ? 40 : 10
      const attack = (names: string[]) =>
        names
          .map(
            (name) =>
              `(mkdir -p $(dirname ${name}); echo x > ${name} || touch ${name}/x || rmdir ${name}) 2>/dev/null && echo made ${name};`,
          )
          .join(' ')
      const one = start(
        [
          ['deny', at('/.env')],
          ['readOnly', at('/.git/hooks')],
          ['deny', at('/dir/x')],
        ],
        attack(['.env', '.git/hooks', 'dir/x']),
        count,
        10,
      )
      const other = start(
        [
          ['readOnly', at('/.env')],
          ['deny', at('/.git/hooks')],
          ['deny', at('/dir/y')],
          ['readOnly', at('/.git/config/x')],
        ],
        attack(['.env', '.git/hooks', 'dir/y']),
        count,
        10,
      )
      const lines = (await Promise.all([linesOf(one), linesOf(other)])).flat()
      expect(lines.filter((line) => line.trim() !== 'ran')).toEqual([])
      expect(lines).toHaveLength(2 * count)
      expect(await namesBelow(root)).toEqual(['dir'])
    })

    async function open() {
      return await createWorkspace({
        mounts: [{ at: top, adapter: await createLocalAdapter({ root }) }],
        rules: [rules.deny(at('/.env')), rules.readOnly(at('/dir/name')), rules.readOnly(at('/.git/hooks'))],
        executors: [createBubblewrapExecutor(formOf(mode))],
      })
    }
    const plain = { login: false, shell: '/bin/sh' } as const

    it('[RU2] are never made by commands that rename, remove and swap all around them, while others come and go', {
      tags,
    }, async () => {
      await mkdir(join(root, 'dir'))
      await give(join(root, 'dir'))
      await using workspace = await open()
      const attack = String.raw`while :; do
  mv dir moved; mv moved dir; mv .env away; rmdir .env; rm -rf .env dir/name .git; mv -T away .env; ln -s /tmp .env; mv .git x
  echo evil > .env; echo evil > dir/name; mkdir -p dir/name .git/hooks; echo evil > dir/name/evil; echo evil > .git/hooks/evil; mv x .git
  perl -e 'syscall(${process.arch === 'arm64' ? 276 : 316}, -100, "dir", -100, "other", 2); rename("other", "dir")'
done 2>/dev/null`
      const attackers = await Promise.all([1, 2].map(() => workspace.spawn(attack, plain)))
      for (const _ of rounds({ quick: 5, seconds: 5 })) {
        await Promise.all(
          [1, 2].map(async () => await workspace.exec('test ! -f .env && test ! -e dir/name/evil', plain)),
        )
        const names = await namesBelow(root)
        expect(names.filter((name) => name.endsWith('evil') || name.endsWith('away'))).toEqual([])
        expect(lstatSync(join(root, '.env'), { throwIfNoEntry: false })?.isFile() ?? false).toBe(false)
      }
      for (const attacker of attackers) {
        attacker.kill('SIGKILL')
        await attacker.wait().catch(() => undefined)
      }
      expect((await namesBelow(root)).filter((name) => name !== 'dir' && name !== 'other')).toEqual([])
    })

    it('[RU2] cost nobody a file while a program outside renames and swaps what holds them', { tags }, async () => {
      const other = join(scratch.path, 'other')
      for (const path of [join(root, 'dir'), other]) {
        await mkdir(path)
        await writeFile(join(path, 'keep'), path)
        await give(path)
      }
      const swapper = spawn('/usr/bin/perl', [
        '-e',
        String.raw`$| = 1; my ($root, $other) = @ARGV; print "ready\n";
while (1) { for (1 .. 20) { rename("$root/dir", "$root/moved"); rename("$root/moved", "$root/dir");
  rename("$root/.env", "$other/env"); rename("$other/env", "$root/.env"); rmdir("$root/dir/name"); mkdir("$root/dir/name"); rmdir("$root/dir/name");
  syscall(${process.arch === 'arm64' ? 276 : 316}, -100, "$root/dir", -100, "$other", 2) for 1 .. 2 }
  select(undef, undef, undef, 0.03) }`,
        root,
        other,
      ])
      children.push(swapper)
      await once(swapper.stdout, 'data')
      await using workspace = await open()
      for (const _ of rounds({ quick: 5, seconds: 5 })) {
        try {
          await workspace.exec('true', plain)
        } catch (error) {
          expect((error as { code?: string }).code).toMatch(/^(?:EBUSY|EIO)$/)
        }
      }
      const exited = once(swapper, 'exit')
      swapper.kill('SIGKILL')
      await exited
      const kept = [join(root, 'dir'), join(root, 'moved'), other].filter((path) => existsSync(join(path, 'keep')))
      expect(kept.map((path) => readFileSync(join(path, 'keep'), 'utf8')).sort()).toEqual(
        [other, join(root, 'dir')].sort(),
      )
    })
  })
}

/** The perl process that a worker has started for its reserved names, if it is there by now. */
function keeperOf(pid: number): number | undefined {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return list.map(Number).find((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('pidfd_open')
    } catch {
      return false
    }
  })
}
