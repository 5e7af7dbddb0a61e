import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type AccessEvent, rules } from '@ws/core'
import { getCommandResult } from '@ws/core/executor'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { useRuleSite } from './support/rule-site.ts'
import { formOf, modes, namesBelow, needed, tagsIn } from './support/workbench.ts'

for (const mode of modes) {
  describeWith(needed[mode], `protected names that are missing (${mode})`, { tags: tagsIn(mode) }, () => {
    const site = useRuleSite(mode)
    const { at, put, directory, open } = site
    const natural = () => [rules.withinOutput(at('/out')), rules.deny(at('/.env')), rules.readOnly(at('/.git/hooks'))]

    it('[RU2] run commands under the natural rules on an empty directory, and leave nothing', async () => {
      const workspace = await open(...natural())
      const { exitCode, stderr } = await workspace.exec('echo hi > out/x; echo no > .env; echo no > other; mkdir .git')
      expect(exitCode).not.toBe(0)
      expect(stderr.match(/read-only file system/gi)).toHaveLength(3)
      expect(await namesBelow(site.root)).toEqual(['out', 'out/x'])
    })

    it('[RU2] cannot be made, in any way, where their directory can be written', async () => {
      const workspace = await open(rules.deny(at('/.env')), rules.readOnly(at('/sub/.git/hooks')))
      const attacks = [
        'echo x > .env',
        'mkdir .env',
        'rmdir .env && echo x > .env',
        'echo x > y; mv -T y .env',
        'mv .env away && echo x > .env',
        'ln -s /tmp .env',
        'echo x > .env/y',
        'chmod 755 .env',
        'mkdir -p sub/.git/hooks && echo x > sub/.git/hooks/pre-commit',
        'mv sub other && mkdir -p sub/.git/hooks && echo x > sub/.git/hooks/pre-commit',
        'rm -rf sub && test ! -e sub',
        'rmdir sub/.git/hooks',
        'chmod 755 sub/.git/hooks',
        'touch sub/.git/hooks',
      ]
      for (const attack of attacks) {
        const { exitCode } = await workspace.exec(attack)
        expect({ attack, succeeded: exitCode === 0 }).toEqual({ attack, succeeded: false })
        expect({ attack, names: (await namesBelow(site.root)).filter((name) => name !== 'y') }).toEqual({
          attack,
          names: [],
        })
      }
      expect((await workspace.exec('ls sub/.git/hooks && ls -A sub')).stdout).toBe('.git\n')
    })

    it('[RU2] are shown by no operation of the file API, while commands hold them', async () => {
      const workspace = await open(rules.readOnly(at('/.git/hooks')), rules.readOnly(at('/dir/name')))
      const other = await open()
      await put('dir/file')
      const command = await workspace.spawn('echo started; read line; ls -d .git/hooks dir/name', { stdin: waiting() })
      await firstOf(command.stdout)
      for (const one of [workspace, other]) {
        const names: string[] = []
        for await (const entry of one.list(at('/').replace(/(.)\/$/, '$1'), { recursive: true })) names.push(entry.path)
        expect(names.sort()).toEqual([at('/dir'), at('/dir/file')])
        for (const path of ['/.git', '/.git/hooks', '/dir/name', '/dir/name/x']) {
          expect({ path, code: await codeOf(one.stat(at(path))) }).toEqual({ path, code: 'ENOENT' })
          expect({ path, code: await codeOf(one.read(at(path))) }).toEqual({ path, code: 'ENOENT' })
          expect({ path, code: await codeOf(one.list(at(path)).next()) }).toEqual({ path, code: 'ENOENT' })
          expect({ path, exists: await one.exists(at(path)) }).toEqual({ path, exists: false })
        }
        expect(await codeOf(other.delete(at('/dir/name')))).toBe('ENOENT')
        expect(await codeOf(other.move(at('/.git'), at('/x')))).toBe('ENOENT')
      }
      resume()
      expect((await command.wait()).stdout).toBe('started\n.git/hooks\ndir/name\n')
      expect(await namesBelow(site.root)).toEqual(['dir', 'dir/file'])
    })

    it('[RU2] give way when the file API makes something of them: a directory stays, a file is covered', async () => {
      const workspace = await open(rules.readOnly(at('/.git/hooks')), rules.deny(at('/.env')))
      const other = await open()
      const command = await workspace.spawn('echo started; read line; echo x > .git/x && ls -A .git', {
        stdin: waiting(),
      })
      await firstOf(command.stdout)
      await other.write(at('/.git/config'), 'c')
      expect((await other.stat(at('/.git'))).type).toBe('directory')
      expect(await codeOf(other.stat(at('/.git/hooks')))).toBe('ENOENT')
      resume()
      expect((await command.wait()).stdout).toBe('started\nconfig\nhooks\nx\n')
      expect(await namesBelow(site.root)).toEqual(['.git', '.git/config', '.git/x'])

      const masked = await workspace.spawn('echo started; until cat .env 2>&1 | grep denied; do :; done; cat .env')
      await firstOf(masked.stdout)
      await other.write(at('/.env'), 'secret')
      const rule = `deny(${at('/.env')})`
      expect(await masked.wait()).toMatchObject({
        exitCode: 1,
        violations: [{ rule, path: at('/.env'), kind: 'exposed' }],
      })
      expect(readFileSync(join(site.root, '.env'), 'utf8')).toBe('secret')
      // The next one masks the file.
      expect((await workspace.exec('cat .env')).stdout).toBe('')
    })

    it('[RU2, RU10] that are held by a file are shown by no operation either, and give way', async () => {
      for (const path of ['HEAD', 'objects/x', 'refs/x', 'config', 'hooks/x']) await put(`.git/${path}`)
      const workspace = await open(rules.protectHooks())
      const other = await open()
      const command = await workspace.spawn('cat .git/commondir; read line', { stdin: waiting() })
      await firstOf(command.stdout)
      for (const details of [true, false]) {
        const names: string[] = []
        for await (const { name } of other.list(at('/.git'), { details })) names.push(name)
        expect(names.sort()).toEqual(['HEAD', 'config', 'hooks', 'objects', 'refs'])
      }
      for (const path of ['/.git/commondir', '/.git/config.worktree', '/.git/commondir/x'])
        expect({ path, code: await codeOf(other.read(at(path))) }).toEqual({ path, code: 'ENOENT' })
      expect(await codeOf(other.copy(at('/.git/commondir'), at('/x')))).toBe('ENOENT')
      await other.write(at('/.git/config.worktree'), 'mine', { ifVersion: 'absent' })
      await other.createDirectory(at('/.git/commondir'))
      // It is ended: a directory is not covered.
      const ended = await command.wait().catch((thrown: unknown) => getCommandResult(thrown))
      resume()
      const lost = { rule: 'protectHooks', path: at('/.git/commondir'), kind: 'exposed' }
      expect(ended?.violations).toContainEqual(expect.objectContaining(lost))
      const left = (await namesBelow(site.root)).filter((name) => /commondir|worktree/.test(name))
      expect(left).toEqual(['.git/commondir', '.git/config.worktree'])
      expect(readFileSync(join(site.root, '.git/config.worktree'), 'utf8')).toBe('mine')
    })

    it('[RU2] that are a file or an empty directory of the user are masked, and stay as they are', async () => {
      const workspace = await open(rules.deny(at('/.env')), rules.deny(at('/dir')))
      await put('.env')
      await directory('dir')
      expect((await workspace.exec('cat .env || ls dir')).exitCode).not.toBe(0)
      expect(await namesBelow(site.root)).toEqual(['.env', 'dir'])
    })

    it('[RU2] pin the file that a worktree has in place of the directory', async () => {
      await put('.git', 'gitdir: /elsewhere\n')
      const workspace = await open(...natural().slice(1))
      const attack = 'mv .git x; rm -f .git; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit'
      const { exitCode, stdout } = await workspace.exec(`${attack}; cat .git; false`)
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'gitdir: /elsewhere\n' })
      expect(await namesBelow(site.root)).toEqual(['.git'])
    })

    it('[RU2] let git make a repository and commit', { timeout: 20_000 }, async () => {
      const workspace = await open(rules.deny(at('/.env')), rules.readOnly(at('/.git/hooks')))
      const commit = 'git add -A && git -c user.name=n -c user.email=e commit -qm m && git status --porcelain'
      const { exitCode, stderr, stdout } = await workspace.exec(`git init -q . && echo x > file && ${commit}`)
      expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: '', stdout: '' })
      expect(existsSync(join(site.root, '.git/hooks'))).toBe(false)
      expect((await workspace.exec(`echo y > file && ${commit}; git log --oneline | wc -l`)).stdout).toBe('2\n')
      expect(readdirSync(site.root).sort()).toEqual(['.git', 'file'])
    })

    it('[RU2, RU9] with `onExposure: end`, a mask that is lost ends the command', async () => {
      await put('.env', 'old')
      await put('keys/id', 'old')
      const executor = createBubblewrapExecutor({ ...formOf(mode), onExposure: 'end' })
      const workspace = await site.openWith(executor, rules.deny(at('/.env')), rules.readOnly(at('/keys/id')))
      const events: AccessEvent[] = []
      workspace.on('access', (event) => events.push(event))
      for (const [path, rule] of [
        ['.env', `deny(${at('/.env')})`],
        ['keys/id', `readOnly(${at('/keys/id')})`],
      ] as const) {
        const command = await workspace.spawn('echo started; while :; do sleep 0.01; done')
        await firstOf(command.stdout)
        writeFileSync(join(site.root, 'new'), 'new')
        renameSync(join(site.root, 'new'), join(site.root, path))
        const error = await command.wait().catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'EIO', path: at(`/${path}`), rule })
        expect(events.at(-1)).toMatchObject({
          outcome: 'failed',
          code: 'EIO',
          rule,
          violations: [{ rule, path: at(`/${path}`), kind: 'exposed' }],
        })
      }
    })

    it('[RU2] are all named where a command ends since several are lost at once', async () => {
      for (const name of ['id', 'pass']) await put(`keys/${name}`)
      const workspace = await open(rules.deny(at('/keys/id')), rules.deny(at('/keys/pass')))
      const command = await workspace.spawn('echo started; while :; do sleep 0.01; done')
      await firstOf(command.stdout)
      const helpers = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
      for (const pid of helpers) process.kill(Number(pid), 'SIGSTOP')
      try {
        for (const path of ['id', 'pass'].map((name) => join(site.root, 'keys', name))) {
          rmSync(path)
          mkdirSync(path)
        }
      } finally {
        for (const pid of helpers) process.kill(Number(pid), 'SIGCONT')
      }
      const ended = await command.wait().catch((thrown: unknown) => getCommandResult(thrown))
      const paths = ended?.violations?.map(({ path }) => path)
      expect(paths?.toSorted()).toEqual([at('/keys/id'), at('/keys/pass')])
    })

    let resume: () => void
    async function* waiting(): AsyncIterable<Uint8Array> {
      await new Promise<void>((resolve) => (resume = resolve))
      yield Buffer.from('\n')
    }
  })
}

async function codeOf(work: PromiseLike<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  }
}

async function firstOf(stream: AsyncIterable<Uint8Array>): Promise<void> {
  await stream[Symbol.asyncIterator]().next()
}
