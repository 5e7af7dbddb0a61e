import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { createTools } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

// One probe of a sandbox; no command runs.
describeWith([component('bubblewrap'), component('perl')], 'downloads beside a list of bubblewrap', () => {
  it('[RU14, NW7] a tool is refused hosts that are not listed, that a rule closes, and whose requests have rules', async () => {
    await using scratch = await createScratchDirectory()
    const network = {
      allow: ['api.test', 'open.test', 'closed.test'],
      requests: { 'api.test': [{ match: { method: 'GET', path: '/public/**' } }] },
    }
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: scratch.path }) }],
      rules: [rules.allowHosts(['api.test', 'open.test', 'evil.test'], { name: 'few' })],
      executors: [createBubblewrapExecutor({ network })],
    })
    onTestFinished(() => workspace.close())
    const { judge } = workspace.connections()
    const found: Record<string, unknown> = {}
    for (const host of ['open.test', 'evil.test', 'closed.test', 'api.test']) {
      const verdict = judge(host, 443)
      const explained = await workspace.explain({ operation: 'connect', host, port: 443 })
      found[host] = [
        explained.effect,
        verdict.effect,
        verdict.effect === 'deny' ? (verdict.rule ?? 'network') : verdict.entry,
      ]
    }
    expect(found).toEqual({
      'open.test': ['allow', 'allow', 'open.test'],
      'evil.test': ['deny', 'deny', 'network'],
      'closed.test': ['deny', 'deny', 'few'],
      'api.test': ['allow', 'deny', 'network'],
    })
    await using toolset = createTools(workspace, { face: 'split' })
    const secret = await toolset.run('download', { url: 'https://api.test/private', path: '/x' })
    expect(secret).toMatchObject({ isError: true, data: { code: 'EACCES' } })
    expect(secret.text).toMatch(/`api\.test` has rules for requests/u)
  })
})
