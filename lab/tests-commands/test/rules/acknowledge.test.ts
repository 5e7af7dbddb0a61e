import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { isWorkspaceError, rules } from '@ws/core'
import type { AccessEvent, Rule } from '@ws/core'
import { component, describeWith, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { doors, openSite } from '../doors/site.ts'
import type { Door, Site } from '../doors/site.ts'
import { waitFor } from '../sessions/wait-for.ts'

/** Held by no executor of processes, so that there is something to acknowledge. */
const noSecret = rules.predicate({ name: 'no-secret', test: ({ path }) => !path.endsWith('/secret') })

/** Files that earlier commands can leave for a starting shell, one for each way to make a shell run a file. */
const planted = 'echo PLANTED; cp secret stolen 2>/dev/null'
const startFiles = {
  ...Object.fromEntries(
    ['.profile', '.bash_profile', '.bash_login', '.bashrc', '.zshenv', '.zprofile', '.zshrc', '.env-file'].map(
      (name) => [name, `${planted}\n`] as const,
    ),
  ),
  '.config/fish/config.fish': 'echo PLANTED\n',
  'node_modules/.bin/git': `#!/bin/sh\n${planted}\n`,
  '.venv/bin/git': `#!/bin/sh\n${planted}\n`,
}

async function open(door: Door, list: readonly Rule[] = [noSecret]): Promise<Site> {
  const site = await openSite({
    root: door.root,
    executor: door.create(),
    files: { secret: 'SECRET', ...startFiles },
    rules: () => list,
    commands: { env: { BASH_ENV: '.env-file', ENV: '.env-file', PATH: 'node_modules/.bin:/usr/bin:/bin' } },
  })
  for (const directory of ['node_modules/.bin', '.venv/bin']) await chmod(join(site.directory, directory, 'git'), 0o755)
  return site
}

for (const door of doors)
  describe(`a command that acknowledges a rule, ${door.name}`, { tags: [...door.tags] }, () => {
    describeWith(door.components.map(component), 'in a shell', { tags: [...door.tags] }, () => {
      const runsNothing = async (shell: string) => {
        await using site = await open(door)
        const { workspace } = site
        const options = { shell, acknowledge: ['no-secret'] }
        const { stdout } = await workspace.exec('git --version; echo "in $HOME: $PATH"', options)
        expect(stdout).toMatch(/^git version [^\n]+\nin \//)
        expect(stdout).toContain(`in ${door.root}: /usr/local/bin:/usr/bin:/bin\n`)
        expect(stdout).not.toContain('PLANTED')
        const stdin = await workspace.exec('cat', { ...options, stdin: 'from outside\n', login: true })
        expect(stdin.stdout).toBe('from outside\n')
      }
      it.each(['bash', 'sh', 'dash', 'zsh'])('[RU5] runs nothing that was left for %s', runsNothing)
      itWith(component('fish'), '[RU5] runs nothing that was left for fish', () => runsNothing('/usr/bin/fish'), {
        tags: 'all',
      })

      it('[RU5] runs nothing of it in a session either', async () => {
        await using site = await open(door)
        const session = await site.workspace.openSession({ shell: 'bash', acknowledge: ['no-secret'] })
        await session.write('git --version; echo "READY $((1 + 1))"\r')
        const { before } = await waitFor(session, 'READY 2')
        await session.close()
        expect(before).toMatch(/git version/)
        expect(before).not.toContain('PLANTED')
      })

      it('[RU5] drops the named rule only, and says in the audit which', async () => {
        await using site = await open(door, [noSecret, rules.maxFileSize(100), rules.deny('.zshrc')])
        const events: AccessEvent[] = []
        site.workspace.on('access', (event) => events.push(event))
        const refused = await site.workspace
          .exec('cat secret', { acknowledge: ['no-secret'] })
          .catch((error: unknown) => error)
        expect(isWorkspaceError(refused, 'EUNENFORCEABLE') && refused.rule).toBe('maxFileSize(100)')
        const acknowledge = ['no-secret', 'maxFileSize(100)']
        const { stdout } = await site.workspace.exec('cat secret .zshrc', { acknowledge })
        expect(stdout).toBe('SECRET')
        expect(events.map(({ acknowledged }) => acknowledged)).toEqual([['no-secret'], acknowledge])
      })
    })
  })

describe('acknowledging', () => {
  const door = doors.find(({ name }) => name === 'proot at /workspace')
  if (door === undefined) throw new TypeError('a door is missing')

  describeWith(door.components.map(component), 'where it is refused', { tags: [...door.tags] }, () => {
    it('[RU5] is the last remedy of a refusal, after one that keeps the rule', async () => {
      await using site = await open(door)
      await expect(site.attempt('true')).rejects.toThrow(
        /; use the file API, or the virtual executor, which holds it; as a last resort run this command without the rule \(`acknowledge: \['no-secret'\]`\)$/,
      )
    })

    it('[RU5] a rule that is not there is refused, as is a variable that names what runs first', async () => {
      await using site = await open(door)
      await expect(site.attempt('true', { acknowledge: ['no-secrets'] })).rejects.toThrow(/EINVAL.*`no-secrets`/)
      for (const name of ['PATH', 'BASH_ENV', 'ENV', 'ZDOTDIR', 'LD_PRELOAD']) {
        const options = { acknowledge: ['no-secret'], env: { [name]: '/workspace/x' } }
        await expect(site.workspace.exec('true', options)).rejects.toThrow(`env.${name}`)
      }
    })
  })
})
