import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createProject, giveToOwner, ws } from './ws.ts'

describeWith(component('perl'), 'ws --executor sanitize', () => {
  it('[PC9] runs what it can prove to stay inside, with paths of the workspace, and refuses the rest with 125', async () => {
    await using project = await createProject({ 'docs/a.txt': 'from the API\n' })
    const options = ['--root', project.path, '--executor', 'sanitize', 'exec', '--']
    expect(await ws([...options, 'cat docs/a.txt; cd docs && pwd; exit 7'])).toMatchObject({
      code: 7,
      stdout: 'from the API\n/workspace/docs\n',
      stderr: '',
    })
    for (const command of ['cat ../secret', 'python3 -c "print(1)"']) {
      const { code, stdout, stderr } = await ws([...options, command])
      expect(stderr).toMatch(/^ws: EUNENFORCEABLE: exec: [^\n]+\n$/)
      expect({ code, stdout }).toEqual({ code: 125, stdout: '' })
    }
    const session = await ws(['--root', project.path, '--executor', 'sanitize', 'session', '--no-stdin'])
    expect(session.stderr).toMatch(/^ws: ENOTSUP: [^\n]+\n$/)
    expect(session.code).toBe(125)
  })

  it('takes trusted programs and limits from the config file', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-config-' })
    await mkdir(join(scratch.path, 'project'))
    await giveToOwner({ ...scratch, path: join(scratch.path, 'project') })
    const config = join(scratch.path, 'ws.config.json')
    const run = async (sanitize: object, command: string) => {
      const content = { mounts: [{ at: '/', root: 'project' }], executors: ['sanitize'], executorOptions: { sanitize } }
      await writeFile(config, JSON.stringify(content))
      return ws(['--config', config, 'exec', '--', command])
    }
    const limits = { openFiles: 77, memoryBytes: 8 * 2 ** 30 }
    const held = await run({ trustPrograms: ['python3', 'ulimit'], limits }, `python3 -c 1 && ulimit -n && ulimit -v`)
    expect(held).toMatchObject({ code: 0, stdout: `77\n${8 << 20}\n`, stderr: '' })
    expect((await run({}, 'python3 -c 1')).code).toBe(125)
    expect(await run({ tools: [] }, 'true')).toMatchObject({ code: 2, stderr: expect.stringContaining('`tools`') })
    expect(await run({ limits: { scratchBytes: 5 } }, 'true')).toMatchObject({ code: 2 })
  })

  it('is verified: what it cannot do it refuses, and nothing fails', { tags: 'deep' }, async () => {
    const { code, stdout, stderr } = await ws(['--json', '--executor', 'sanitize', 'verify'])
    expect(stderr).toBe('')
    const report = JSON.parse(stdout) as { results: { status: string }[]; summary: Record<string, number> }
    expect(report.results.filter(({ status }) => status === 'failed')).toEqual([])
    expect(report.summary['ok']).toBeGreaterThan(report.results.length / 3)
    expect(code).toBe(0)
  })
})

describe('ws doctor', { tags: 'all' }, () => {
  const doctor = async (...options: string[]) => {
    const { stdout, code } = await ws([...options, '--json', 'doctor'])
    return { code, ...(JSON.parse(stdout) as { ok: boolean; executors: { executor: string; guarantees: object }[] }) }
  }

  it('[PC13] shows the last resort where nobody chose, and never counts on it', async () => {
    const names = async (...options: string[]) =>
      new Set((await doctor(...options)).executors.map(({ executor }) => executor))
    expect(await names()).toEqual(new Set(['bubblewrap', 'proot', 'sanitize']))
    expect(await names('--executor', 'proot')).toEqual(new Set(['proot']))
    // It holds that under Landlock; it would do if it were named.
    const unmet = await doctor('--require', 'apiRules=kernel')
    expect(unmet).toMatchObject({ ok: false, code: 1 })
    const { stdout } = await ws(['--require', 'apiRules=kernel', 'doctor'])
    expect(stdout).toContain('No executor here will do: commands would be refused.')
  })

  itWith([component('perl'), component('landlock')], '[PC13] says what it holds here when it is named', async () => {
    const { ok, executors } = await doctor('--executor', 'sanitize', '--require', 'fileContent=kernel')
    expect(ok).toBe(true)
    for (const { guarantees } of executors)
      expect(guarantees).toMatchObject({ fileContent: 'kernel', fileMetadata: 'none', readOnlyMounts: 'kernel' })
  })
})
