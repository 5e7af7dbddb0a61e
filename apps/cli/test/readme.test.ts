import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createProject, giveToOwner, ws } from './ws.ts'

const readme = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

describe('the page of `ws`', () => {
  it('[PM1] has a config that is valid and means what it says', async () => {
    const config = JSON.parse(/```json\n(.*?)```/su.exec(readme)?.[1] ?? '') as { owner?: string }
    await using scratch = await createProject({ 'project/.env': 'SECRET=1', 'skills/SKILL.md': '# Skill' })
    await mkdir(join(scratch.path, 'project/out'))
    // the owner of the example is one of many
    config.owner = `${scratch.owner.uid}:${scratch.owner.gid}`
    await writeFile(join(scratch.path, 'ws.config.json'), JSON.stringify(config))
    await giveToOwner(scratch)
    const at = ['--config', join(scratch.path, 'ws.config.json')]
    expect(await ws([...at, 'ls'])).toMatchObject({ code: 0, stdout: '.env\n.solven\nout\n', stderr: '' })
    expect((await ws([...at, 'cat', '.solven/skills/system/SKILL.md'])).stdout).toBe('# Skill')
    expect((await ws([...at, 'cat', '.env'])).stderr).toContain('(rule `no-secrets`)')
    expect((await ws([...at, 'write', 'a', 'a'])).stderr).toContain('write below `out`')
    expect((await ws([...at, 'write', 'node_modules/a', 'a'])).code).toBe(0)
    expect((await ws([...at, '--at', '/workspace', 'ls', '/'])).code).not.toBe(2)
  })

  itWith(
    [component('bubblewrap'), component('proot')],
    '[RU2, RU6] has a config under which commands run in an empty project',
    async () => {
      const config = JSON.parse(/```json\n(.*?)```/su.exec(readme)?.[1] ?? '') as { owner?: string }
      await using scratch = await createProject({ 'skills/SKILL.md': '# Skill' })
      await mkdir(join(scratch.path, 'project'))
      config.owner = `${scratch.owner.uid}:${scratch.owner.gid}`
      await writeFile(join(scratch.path, 'ws.config.json'), JSON.stringify(config))
      await giveToOwner(scratch)
      const at = ['--config', join(scratch.path, 'ws.config.json')]
      expect(await ws([...at, 'doctor'])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('Commands would run with bubblewrap. Every rule') as string,
      })
      const ran = await ws([...at, 'exec', '--no-login', '--', 'echo done > out/a; cat .env; echo x > b; ls'])
      expect(ran.stderr).toMatch(/read-only file system/iu)
      expect(ran.stdout).toContain('out\n')
    },
  )

  it('names every command and every global option that there is', async () => {
    const { stdout } = await ws(['--help'])
    const listed = stdout.slice(stdout.indexOf('Commands:'), stdout.indexOf('Examples:'))
    const commands = [...listed.matchAll(/^ {2}([a-z]+) .*/gmu)].map(([, name]) => name)
    const options = [...stdout.matchAll(/^ {2}(--[a-z0-9-]+)/gmu)].map(([, name]) => name)
    expect(commands).toHaveLength(35)
    for (const name of commands) expect(readme).toContain(`| \`ws ${name}`)
    for (const name of options) expect(readme).toContain(`| \`${name}`)
  })
})
