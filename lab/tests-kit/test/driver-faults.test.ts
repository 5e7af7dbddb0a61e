/** @module-tag all */
import { faults } from '@ws/conformance'
import { paths } from '@ws/core'
import { type BindPlan, noGuarantees } from '@ws/core/executor'
import { type CommandDriver, defineExecutor, type LocalCommand, startLocal } from '@ws/sandbox'
import { ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

const root = paths.parseVirtual('/')
const plan: BindPlan = { root, binds: [], aliases: [], restrictions: [], renameBorders: [] }

/** Processes of this machine, as they are. */
const sound: NonNullable<CommandDriver['start']> = (prepared, run) =>
  Promise.resolve(startLocal(prepared as LocalCommand, run))

const attach = (start: NonNullable<CommandDriver['start']>) =>
  defineExecutor<object, true>({
    name: 'broken',
    probe: async () => await Promise.resolve({ found: true }),
    guarantees: () => noGuarantees,
    attach: () => ({
      prepare: async (_plan, { command }): Promise<LocalCommand> =>
        await Promise.resolve({ process: { argv: ['/bin/sh', '-c', command] }, owner: ordinaryOwner() }),
      start,
    }),
  })({}).attach({ root, owner: ordinaryOwner(), files: undefined as never })

describe('a driver that breaks its contract fails a command by its name, and nothing hangs:', () => {
  it.concurrent.each(faults.drivers)('$name', { timeout: 60_000 }, async ({ code, command, apply }) => {
    const request = { command, cwd: root, env: {}, login: false, killGrace: 50, timeout: 500, maxOutputBytes: 100 }
    const broken = await attach(apply(sound as never) as never)
    const run = async () => await (await broken.spawn(request, plan)).wait()
    await expect(run()).rejects.toMatchObject({ code, reason: expect.stringContaining('broken') })
    const left = code === 'EIO' && command.startsWith('sleep')
    if (left) await expect(broken.close()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    else await broken.close()
  })

  it('without a fault a command ends well', async () => {
    const attached = await attach(sound)
    const request = { command: 'echo out', cwd: root, env: {}, login: false, killGrace: 50, maxOutputBytes: 100 }
    expect(await (await attached.spawn(request, plan)).wait()).toMatchObject({ exitCode: 0, stdout: 'out\n' })
    await attached.close()
  })
})
