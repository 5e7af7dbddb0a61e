import { describe, expect, it } from 'vitest'

import { createProject, ws } from './ws.ts'

describe('ws --executor virtual', () => {
  it('runs commands without a program of this machine, and only when it is named', async () => {
    await using project = await createProject({ 'a.txt': 'from the API\n' })
    const options = ['--root', project.path, '--executor', 'virtual']
    const tested = await ws([...options, 'exec', '--', 'cat a.txt; node --version || exit 7'])
    expect(tested).toMatchObject({ code: 7, stdout: 'from the API\n', stderr: 'bash: node: command not found\n' })
    const ended = await ws([...options, 'exec', '--', 'cat a.txt; node --version; exit 7'])
    expect(ended).toMatchObject({ code: 127, stdout: 'from the API\n' })
    expect(ended.stderr).toContain('the script ended here, since `node` is not there')
  })

  it('is verified as the others are, but for what takes processes', { tags: ['deep'] }, async () => {
    const { code, stdout } = await ws(['--json', '--executor', 'virtual', 'verify'])
    const { results } = JSON.parse(stdout) as { results: readonly { status: string; note?: string }[] }
    expect(results.filter(({ status }) => status === 'failed')).toEqual([])
    expect(results.map(({ note }) => note)).toContainEqual(
      expect.stringContaining('needs processes, which an interpreter does not have'),
    )
    expect(code).toBe(0)
  })
})
