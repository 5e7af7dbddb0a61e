import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { component, createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const entry = fileURLToPath(new URL('../src/index.ts', import.meta.url))
const run = promisify(execFile)

async function failureOf(node: string, args: readonly string[]): Promise<{ code: unknown; stderr: unknown }> {
  try {
    await run(node, args)
    return { code: 0, stderr: '' }
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: unknown }
    return { code, stderr }
  }
}

const told = (version: string) => ({
  code: 2,
  stderr: `ws: needs Node 22.18 or newer, got ${version}; install it from https://nodejs.org\n`,
})

describe('ws on an old Node', () => {
  it.each(['20.20.2', '22.17.9', '18.0.0', '9.0.0'])('%s: one line that says which is needed', async (version) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
    const options = ['--conditions=@ws/source', '--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
    expect(await failureOf(process.execPath, [...options, entry, '--help'])).toEqual(told(version))
  })

  it('needs what package.json says', () => {
    const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      engines: { node: string }
    }
    expect(engines.node).toBe('>=22.18')
  })

  // The machine's own Node, where that is an old one: it must be able to read the entry.
  const { path: own } = component('node')
  const version =
    own === undefined ? '' : execFileSync(own, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
  if (own !== undefined && /^(?:1[2-9]|20|21)\./u.test(version)) {
    it(`${version}: reads the entry, and says it too`, async () => {
      await using scratch = await createScratchDirectory()
      await writeFile(join(scratch.path, 'package.json'), '{ "type": "module" }')
      const file = join(scratch.path, 'index.js')
      await writeFile(file, stripTypeScriptTypes(readFileSync(entry, 'utf8')))
      expect(await failureOf(own, [file, 'ls'])).toEqual(told(version))
    })
  }
})
