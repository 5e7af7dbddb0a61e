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
    const edit = { file_path: '/a.txt', old_string: 'one', new_string: 'two' }
    const right = await run({ tool: 'Edit', arguments: edit }, '--face', 'claude-code')
    expect(right.code, right.stderr).toBe(0)
    expect(JSON.parse(right.stdout)).toMatchObject({ isError: false, data: { replacements: 1 } })
    expect(await readFile(join(project.path, 'a.txt'), 'utf8')).toBe('two\n')
    const wrong = await run({ tool: 'file_system', arguments: { operation: 'read', pth: '/a.txt' } })
    expect(wrong.code).toBe(1)
    expect(JSON.parse(wrong.stdout)).toMatchObject({ isError: true, next: { arguments: { path: '/a.txt' } } })
    const bad = await run({ name: 'x' })
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('the call must be a JSON object')
  })
})
