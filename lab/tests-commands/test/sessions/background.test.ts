import { component, describeWith } from '@ws/test-fixtures'
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { forms, openSite } from '../doors/site.ts'
import { survivors } from './survivors.ts'

for (const door of forms) {
  describeWith(door.components.map(component), `background commands: ${door.name}`, { tags: [...door.tags] }, () => {
    const open = () => openSite({ root: door.root, executor: door.create() })
    const plain = { login: false, shell: 'bash' } as const

    it('start, list, output so far, wait', async () => {
      await using site = await open()
      const { workspace } = site
      const command = await workspace.start('echo out; echo err >&2; until [ -e go ]; do sleep 0.02; done; echo more', {
        ...plain,
        id: 'build',
      })
      await expect(workspace.start('true', { id: 'build' })).rejects.toMatchObject({ code: 'EEXIST' })
      expect(workspace.commands()).toEqual([command])
      expect(workspace.command('build').running).toBe(true)
      await expect.poll(() => command.output().stderr.text).toBe('err\n')
      await expect.poll(() => command.output().stdout.text).toBe('out\n')
      const { next } = command.output().stdout
      await workspace.write('go', '')
      expect((await command.wait()).exitCode).toBe(0)
      expect(command.output({ since: { stdout: next } }).stdout.text).toBe('more\n')
      expect(workspace.command('build')).toMatchObject({ running: false, result: { exitCode: 0 } })
      expect(() => workspace.command('other')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
    })

    it('kill ends the whole tree, and so does closing the workspace', async () => {
      await using site = await open()
      const token = randomUUID()
      const line = `bash -c 'trap "" TERM; while :; do sleep 1; done' ${token} & echo up; wait`
      const first = await site.workspace.start(line, plain)
      const second = await site.workspace.start(line, plain)
      for (const command of [first, second]) await expect.poll(() => command.output().stdout.text).toBe('up\n')
      expect(first.kill('SIGKILL')).toBe(true)
      expect((await first.wait()).signal).toBe('SIGKILL')
      expect(first.kill()).toBe(false)
      await site.workspace.close()
      expect(survivors(token)).toEqual([])
      expect(second.running).toBe(false)
    })
  })
}
