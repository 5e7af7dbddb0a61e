import { spawnSync } from 'node:child_process'

import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const program = new URL('../src/index.ts', import.meta.url).pathname

/** Runs `ws` where Node says that this is another system. Nothing else is that system's. */
function wsOn(system: NodeJS.Platform, cwd: string, ...words: readonly string[]) {
  const fake = `data:text/javascript,Object.defineProperty(process,'platform',{value:'${system}'})`
  const argv = ['--no-warnings', '--import', fake, '--conditions=@ws/source', program, ...words]
  const { stdout, stderr, status } = spawnSync(process.execPath, argv, { cwd, encoding: 'utf8', timeout: 60_000 })
  return { text: stdout + stderr, status }
}

const foreign = ['darwin', 'win32'] as const
const executors = ['bubblewrap', 'proot', 'sandbox-runtime', 'sanitize'] as const

describe('ws on other systems', () => {
  it.each(foreign)('%s: doctor names the best choice and the reason, and no package of Debian', async (system) => {
    await using scratch = await createScratchDirectory()
    const { text } = wsOn(system, scratch.path, 'doctor', '-v')
    expect(text).toMatch(/^On (?:macOS, sandbox-runtime|this system, virtual) is the best choice: /mu)
    expect(text).not.toMatch(/apt-get|internal error|\n\s+at /u)
  })

  it.each(foreign)(
    '%s: an executor of Linux says so at once, with what works there',
    { tags: ['all'] },
    async (system) => {
      await using scratch = await createScratchDirectory()
      for (const executor of executors) {
        const { text, status } = wsOn(system, scratch.path, '--root', '.', '--executor', executor, 'exec', 'true')
        expect(status, executor).toBe(125)
        expect(text, executor).toMatch(
          /ENOEXECUTOR.*(?:it runs on (?:Linux|macOS and Linux) only|sandbox-exec is not installed)/u,
        )
        expect(text, executor).toMatch(/container|is a part of it/u)
        expect(text, executor).not.toMatch(/apt-get/u)
      }
    },
  )

  it('macOS: the directory is mounted at its own path', async () => {
    await using scratch = await createScratchDirectory()
    const places = (system: NodeJS.Platform, ...options: readonly string[]) =>
      [scratch.path, '/workspace', '/project'].filter(
        (place) => wsOn(system, scratch.path, '--root', '.', ...options, 'stat', place).status === 0,
      )
    expect(places('darwin')).toEqual([scratch.path])
    expect(places('linux')).toEqual(['/workspace'])
    expect(places('darwin', '--at', '/project')).toEqual(['/project'])
  })
})
