import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { type RunningCommand, rules } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { useRuleSite } from './support/rule-site.ts'
import { modes, needed, tagsIn } from './support/workbench.ts'

for (const mode of modes) {
  describeWith(needed[mode], `a protected file that the host replaces (${mode})`, { tags: tagsIn(mode) }, () => {
    const site = useRuleSite(mode)
    const { at, put } = site
    const path = (name: string) => join(site.root, name)

    /** As an editor of the user saves, or git its configuration. Only a cover keeps that user from writing it. */
    function save(name: string, content: string): void {
      writeFileSync(path('new'), content)
      if (process.getuid?.() === 0) chownSync(path('new'), site.owner.uid, site.owner.gid)
      renameSync(path('new'), path(name))
    }

    async function begin(command: string): Promise<RunningCommand> {
      await put('.env', 'old')
      await put('keys/id', 'old')
      const workspace = await site.open(rules.deny(at('/.env')), rules.readOnly(at('/keys/id')))
      const running = await workspace.spawn(`echo started; ${command}`)
      await running.stdout[Symbol.asyncIterator]().next()
      return running
    }

    // One place is covered after the other.
    const covered = ['.', '/workspace']
      .map(
        (place) =>
          `until cat ${place}/.env 2>&1 | grep -q denied && ! { : >> ${place}/keys/id; } 2>/dev/null; do :; done`,
      )
      .join('; ')
    const rulesOf = { env: `deny(${at('/.env')})`, id: `readOnly(${at('/keys/id')})` }

    it('[RU9] is covered again at every place, and the command goes on', async () => {
      const again =
        'cat .env /workspace/.env; echo evil >> keys/id; echo evil >> /workspace/keys/id; mv .env x; rm keys/id'
      const running = await begin(`until [ -e go ]; do :; done; ${covered}; (${again}) 2>&1; cat keys/id`)
      for (const round of ['first', 'second', 'third']) {
        // Both at once: the kernel gives the number of a mount that is gone to the next one.
        save('.env', round)
        save('keys/id', round)
        await delay(100)
      }
      writeFileSync(path('go'), '')
      const { exitCode, stdout, violations } = await running.wait()
      const refused = expect.stringMatching(/Permission denied|Read-only file system|Device or resource busy/i)
      expect({ exitCode, lines: stdout.split('\n') }).toEqual({
        exitCode: 0,
        lines: ['started', ...Array<unknown>(6).fill(refused), 'third'],
      })
      expect(violations).toEqual([
        { rule: rulesOf.env, path: at('/.env'), kind: 'exposed', duration: expect.any(Number) },
        { rule: rulesOf.id, path: at('/keys/id'), kind: 'exposed', duration: expect.any(Number) },
      ])
      for (const one of violations ?? []) expect('duration' in one && one.duration).toBeGreaterThan(0)
      expect(['.env', 'keys/id'].map((name) => readFileSync(path(name), 'utf8'))).toEqual(['third', 'third'])
    })

    it('[RU9] may be missing for a moment, as where an editor moves the old one away first', {
      tags: 'all',
    }, async () => {
      const running = await begin(`until [ -e go ]; do :; done; ${covered}; cat .env 2>&1`)
      renameSync(path('.env'), path('backup'))
      await delay(5)
      writeFileSync(path('.env'), 'new')
      rmSync(path('backup'))
      writeFileSync(path('go'), '')
      save('keys/id', 'new')
      expect((await running.wait()).stdout).toMatch(/^started\ncat: .env: Permission denied\n$/)
    })

    const attacks: Readonly<Record<string, readonly [string, () => (() => void) | void]>> = {
      'is gone': ['/.env', () => rmSync(path('.env'))],
      'is a link': ['/.env', () => (symlinkSync('keys/id', path('new')), renameSync(path('new'), path('.env')))],
      'is a directory': ['/.env', () => (rmSync(path('.env')), mkdirSync(path('.env')))],
      'is a FIFO': ['/.env', () => (execFileSync('mkfifo', [path('new')]), renameSync(path('new'), path('.env')))],
      'has a further name': [
        '/.env',
        () => {
          writeFileSync(path('new'), 'new')
          linkSync(path('new'), path('stolen'))
          renameSync(path('new'), path('.env'))
        },
      ],
      'is open for writing': [
        '/keys/id',
        () => {
          writeFileSync(path('new'), 'new')
          chmodSync(path('new'), 0o666)
          const held = openSync(path('new'), 'a')
          renameSync(path('new'), path('keys/id'))
          return () => closeSync(held)
        },
      ],
    }
    for (const [what, [name, replace]] of Object.entries(attacks))
      it(`[RU9] ends the command where the new one ${what}`, {
        tags: ['is a link', 'has a further name', 'is open for writing'].includes(what) ? [] : ['all'],
      }, async () => {
        const running = await begin('while :; do sleep 0.01; done')
        const release = replace()
        await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', path: at(name) })
        release?.()
      })

    it('[RU9] ends the command where it is replaced all the time', async () => {
      const running = await begin('while :; do sleep 0.01; done')
      let isOver = false
      const ending = running.wait().catch((error: unknown) => error)
      void ending.finally(() => (isOver = true))
      let saves = 0
      for (; !isOver && saves < 20_000; saves++) {
        save('.env', 'new')
        await delay(1)
      }
      expect(await ending).toMatchObject({ code: 'EIO', path: at('/.env') })
      expect(saves).toBeGreaterThan(50)
    })

    it('[RU9] leaves a command no way to write it later, or to read it under another name', {
      tags: 'all',
    }, async () => {
      const running = await begin(`exec perl -e '
        $| = 1;
        for my $round (1 .. 1e7) {
          link(".env", "stolen.$round") and print "linked $round\\n";
          symlink("/etc/hostname", ".env") if rename(".env", "moved.$round");
          next unless open(my $f, ">>", "keys/id");
          # the cover is back
          while (open(my $again, ">>", "keys/id")) { select(undef, undef, undef, 0.0001) }
          select(undef, undef, undef, 0.3);
          syswrite($f, "late");
          close $f;
        }'`)
      const ending = running.wait().catch((error: unknown) => error)
      let isOver = false
      void ending.finally(() => (isOver = true))
      for (let round = 0; round < 20 && !isOver; round++) {
        save('keys/id', 'new')
        await delay(20)
        if (!isOver) save('.env', 'secret')
        await delay(400)
        expect(readFileSync(path('keys/id'), 'utf8')).not.toContain('late')
      }
      running.kill('SIGKILL')
      await ending
      // While the command went on, the names that it took from the host were not left open.
      if (!isOver) expect(lstatSync(path('.env')).isSymbolicLink()).toBe(false)
    })
  })
}

describeWith([...needed.warm, component('git')], 'a server in a command', { tags: 'all' }, () => {
  const site = useRuleSite('warm')
  it('[RU9] goes on while its user pushes, and saves `.env`', async () => {
    const root = site.root
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], {
        cwd: root,
        stdio: 'pipe',
        ...(process.getuid?.() === 0 ? site.owner : {}),
        env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
      })
    await site.put('f', 'served\n')
    await site.put('.env', 'old')
    git('init', '-q', '-b', 'main')
    git('add', 'f')
    git('commit', '-qm', 'first')
    git('init', '-q', '--bare', '../remote')
    git('remote', 'add', 'origin', '../remote')
    const workspace = await site.open(rules.protectHooks(), rules.protectSecrets())
    await workspace.exec('true')
    const serve = `python3 -m http.server 8123 >/dev/null 2>&1 &
      until curl -sf localhost:8123/f; do sleep 0.05; done; until [ -e done ]; do sleep 0.05; done
      curl -sf localhost:8123/f; curl -s -o /dev/null -w '%{http_code}\\n' localhost:8123/.env; git config --get branch.main.remote`
    const running = await workspace.spawn(serve)
    await running.stdout[Symbol.asyncIterator]().next()
    git('push', '-q', '-u', 'origin', 'main')
    writeFileSync(join(root, '.env.tmp'), 'new secret')
    renameSync(join(root, '.env.tmp'), join(root, '.env'))
    await delay(300)
    writeFileSync(join(root, 'done'), '')
    const { exitCode, stdout, violations } = await running.wait()
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'served\nserved\n404\norigin\n' })
    expect(violations?.map((one) => 'path' in one && one.path).sort()).toEqual([
      '/workspace/.env',
      '/workspace/.git/config',
    ])
  })
})
