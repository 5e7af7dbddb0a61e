/** @module-tag all */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { serveHttpWith } from '../src/http/serve.ts'
import { startOf } from './support/clients.ts'
import { makeFixtureServer } from './support/fixture-server.ts'
import { openWorkspace, serveOne } from './support/serve.ts'

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const suite = join(require.resolve('@modelcontextprotocol/conformance/package.json'), '../dist/index.js')

/** Scenarios that ask for tools, prompts and resources of the suite's own. */
const demandingFixtures = `
  server-stateless completion-complete caching tools-call-simple-text tools-call-image tools-call-audio
  tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress resources-read-text
  resources-read-binary resources-templates-read prompts-list prompts-get-simple prompts-get-with-args
  prompts-get-embedded-resource prompts-get-with-image input-required-result-basic-elicitation
  input-required-result-basic-sampling input-required-result-basic-list-roots input-required-result-request-state
  input-required-result-multiple-input-requests input-required-result-multi-round input-required-result-non-tool-request
  input-required-result-result-type input-required-result-tampered-state input-required-result-capability-check`
  .trim()
  .split(/\s+/u)

interface Outcome {
  /** The passed checks of the scenarios that count for the revision. */
  readonly passed: readonly string[]
  readonly failed: readonly string[]
  readonly output: string
}

/** Runs the official suite for revision 2026-07-28. */
async function conform(url: URL): Promise<Outcome> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  const given = ['server', '--url', url.href, '--requirements', '2026-07-28', '-o', scratch.path]
  const output = await run(process.execPath, [suite, ...given], { maxBuffer: 2 ** 26, timeout: 240_000 }).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
  const [summary = '', notScored = ''] = output.slice(output.indexOf('=== SUMMARY ===')).split('Not scored')
  const unscored = new Set([...notScored.matchAll(/^ {2}[✓✗] (\S+) \(/gmu)].map(([, name]) => name))
  const lines = [...summary.matchAll(/^([✓✗]) (\S+): /gmu)].filter(([, , name]) => !unscored.has(name))
  const named = (mark: string) => lines.flatMap(([, found, name = '']) => (found === mark ? [name] : []))
  return { passed: named('✓'), failed: named('✗'), output }
}

describe('the conformance suite for 2026-07-28', { timeout: 300_000 }, () => {
  it('passes on the server, but for scenarios that demand fixtures', async () => {
    const server = await serveOne(await openWorkspace())
    const { passed, failed, output } = await conform(server.url)
    expect([...passed, ...failed], output).toHaveLength(37)
    expect(failed.toSorted(), output).toEqual(demandingFixtures.toSorted())
  })

  it('passes in all 37 scenarios on a server with fixtures, on the same stack', async () => {
    const workspace = await openWorkspace()
    const server = await serveHttpWith(
      { tools: { face: 'split' }, open: async () => ({ workspace, close: async () => undefined }) },
      makeFixtureServer,
    )
    onTestFinished(() => server.close())
    const { passed, failed, output } = await conform(server.url)
    expect(failed, output).toEqual([])
    expect(passed, output).toHaveLength(37)
  })
})

describe('the command line of the inspector', { timeout: 120_000 }, () => {
  const packagePath = require.resolve('@modelcontextprotocol/inspector/package.json')
  const inspector = join(packagePath, '../clients/launcher/build/index.js')

  it('lists and calls tools over stdio', { tags: 'deep' }, async () => {
    await using scratch = await createScratchDirectory()
    await writeFile(join(scratch.path, 'a.txt'), 'one\n')
    const { command, args } = startOf(scratch.path)
    const inspect = async (...given: readonly string[]): Promise<string> =>
      (
        await run(process.execPath, [inspector, '--cli', '--connect-timeout', '60000', command, ...args, ...given], {
          env: { PATH: process.env['PATH'], HOME: scratch.path },
        })
      ).stdout
    expect(await inspect('--method', 'tools/list')).toContain('"name": "read_chunked"')
    const call = ['--method', 'tools/call', '--tool-name', 'write', '--tool-arg', 'path=/b.txt', 'content=x']
    expect(await inspect(...call)).toContain('Created')
    expect(await readFile(join(scratch.path, 'b.txt'), 'utf8')).toBe('x')
  })
})
