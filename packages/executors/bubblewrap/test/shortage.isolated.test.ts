import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'

import { paths } from '@ws/core'
import { component, createScratchDirectory, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it, vi } from 'vitest'

import { descriptors, firstProcess, type FirstProcessReport, readReport } from '../src/processes/first-process.ts'
import { createBubblewrapExecutor } from '../src/index.ts'

describeWith((['bubblewrap', 'perl', 'tmpfs'] as const).map(component), 'a probe without space', () => {
  it('[HO2] for the list of reserved names settles for no other form or executor', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-short-' })
    const state = join(scratch.path, 'state')
    mkdirSync(state)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k,mode=0700', 'short', state])
    vi.stubEnv('WS_STATE_DIRECTORY', state)
    try {
      writeFileSync(join(state, 'filler'), Buffer.alloc(4096))
      for (const root of ['auto', 'direct'] as const) {
        const probing = createBubblewrapExecutor({ root }).probe({ root: paths.root, owner: ordinaryOwner() })
        await expect(probing).rejects.toMatchObject({
          code: 'ENOEXECUTOR',
          reason: 'it could not be tried whether commands can be confined: no space is left on the disk',
          remedy: 'free some space',
        })
      }
    } finally {
      vi.unstubAllEnvs()
      execFileSync('umount', ['-l', state])
    }
  })
})

/** The report of the first process on a command. Without room, its user may have no other process. */
async function reportOf(command: readonly string[], { room }: { readonly room: boolean }): Promise<FirstProcessReport> {
  const uid = String(2_000_000 + process.pid)
  const alone = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'prlimit', '--nproc=1']
  const [program = '', ...rest] = [...(room ? [] : alone), ...firstProcess(command, [])]
  const stdio = Array.from({ length: descriptors.report + 1 }, () => 'pipe' as const)
  const child = spawn(program, rest, { stdio })
  const report: unknown = child.stdio.at(descriptors.report)
  if (!(report instanceof Duplex)) throw new Error('there is no pipe for the report')
  report.write('go\n')
  return readReport(await text(report))
}

it('[HO2] the first process tells a command that it could not start from one that ended', async () => {
  expect(await reportOf(['true'], { room: true })).toEqual({ ready: true, exitCode: 0, unstarted: false })
  expect(await reportOf(['sh', '-c', 'exit 2'], { room: true })).toMatchObject({ exitCode: 2, unstarted: false })
})

// Limits of root are not held.
it.runIf(process.getuid?.() === 0)(
  '[HO2] the first process says that there is no process for the command',
  async () => {
    expect(await reportOf(['true'], { room: false })).toEqual({ ready: true, exitCode: undefined, unstarted: true })
  },
)
