import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createProject, ws } from './ws.ts'

describe('ws tool', () => {
  it('[FS1] runs one call, and ends with 1 when the answer is an error', async () => {
    await using project = await createProject({ 'a.txt': 'one\n' })
    await using calls = await createScratchDirectory()
    const file = join(calls.path, 'call.json')
    const run = async (call: object, ...options: readonly string[]) => {
      await writeFile(file, JSON.stringify(call))
      return ws(['--root', project.path, '--json', 'tool', ...options, file])
    }
    const edit = { file_path: '/workspace/a.txt', old_string: 'one', new_string: 'two' }
    const right = await run({ tool: 'Edit', arguments: edit }, '--face', 'claude-code')
    expect(right.code, right.stderr).toBe(0)
    expect(JSON.parse(right.stdout)).toMatchObject({ isError: false, data: { replacements: 1 } })
    expect(await readFile(join(project.path, 'a.txt'), 'utf8')).toBe('two\n')
    const wrong = await run({ tool: 'file_system', arguments: { operation: 'read', pth: '/workspace/a.txt' } })
    expect(wrong.code).toBe(1)
    expect(JSON.parse(wrong.stdout)).toMatchObject({ isError: true, next: { arguments: { path: '/workspace/a.txt' } } })
    const bad = await run({ name: 'x' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('the call must be a JSON object')
  })

  it('[RU14] downloads by a list of hosts alone, from the command line or the config file', async () => {
    await using project = await createProject({})
    await using calls = await createScratchDirectory()
    const call = join(calls.path, 'call.json')
    const download = { operation: 'download', url: 'http://evil.test/?q=x', path: '/x' }
    await writeFile(call, JSON.stringify({ tool: 'file_system', arguments: download }))
    const run = async (options: readonly string[], more: readonly string[] = []) => {
      const { code, stdout } = await ws([...options, '--json', 'tool', ...more, call])
      return { code, ...(JSON.parse(stdout) as { text: string; data: object }) }
    }
    const root = ['--root', project.path]
    const line =
      /`evil\.test` cannot be reached: commands have no network.*`downloads: \{ hosts: \['evil\.test'\] \}`/su
    expect(await run([...root, '--executor', 'virtual'])).toMatchObject({ code: 1, text: expect.stringMatching(line) })
    const listed = await run([...root, '--allow-host', 'a.test'])
    expect(listed).toMatchObject({ code: 1, data: { code: 'EACCES', rule: 'downloads' } })
    const off = await run([...root, '--allow-host', 'evil.test'], ['--no-downloads'])
    expect(off).toMatchObject({ code: 1, data: { code: 'ENOTSUP' }, text: expect.stringContaining('switched off') })
    const config = join(calls.path, 'ws.config.json')
    const configure = async (more: object) => {
      await writeFile(config, JSON.stringify({ mounts: [{ at: '/', root: project.path }], ...more }))
      return run(['--config', config])
    }
    const allowHosts = { rule: 'allowHosts', hosts: [], name: 'closed' }
    expect(await configure({ downloads: { hosts: ['a.test'] } })).toMatchObject({ data: { rule: 'downloads' } })
    expect(await configure({ downloads: { hosts: 'public' }, rules: [allowHosts] })).toMatchObject({
      data: { code: 'EACCES', rule: 'closed' },
    })
    expect(await configure({ downloads: false })).toMatchObject({ data: { code: 'ENOTSUP' } })
    await writeFile(config, JSON.stringify({ mounts: [{ at: '/', root: '.' }], downloads: { hosts: ['http://a'] } }))
    const wrong = await ws(['--config', config, 'tool', call])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--config: downloads.*`hosts\[0\]` must be a name/u),
    })
    await writeFile(config, JSON.stringify({ mounts: [{ at: '/', root: '.' }], downloads: { host: ['a.test'] } }))
    expect(await ws(['--config', config, 'tool', call])).toMatchObject({ code: 2 })
  })
})
