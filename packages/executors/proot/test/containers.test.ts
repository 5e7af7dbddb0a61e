/** @module-tag all */
import type { Executor } from '@ws/core/executor'
import { confineArgv, sandboxProgram, startProcess } from '@ws/sandbox'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { Bench, owner } from './support.ts'

const script = `
  import { createProotExecutor } from '@ws/executor-proot'
  const [root, uid, gid] = process.argv.slice(1)
  const owner = { uid: Number(uid), gid: Number(gid) }
  const executor = createProotExecutor()
  const report = await executor.probe({ owner })
  let output
  if (report.available) {
    const attached = await executor.attach({ root: '/', owner, files: {} })
    const binds = [{ kind: 'mount', at: '/', type: 'directory', source: root, access: 'read-write', rules: [] }]
    const request = { command: 'pwd; echo made > /file; (setsid sleep 300 &)', cwd: '/', env: {}, login: false, killGrace: 100, maxOutputBytes: 100 }
    const running = await attached.spawn(request, { root: '/', binds, aliases: [], restrictions: [], renameBorders: [] })
    output = (await running.wait()).stdout
    await attached.close()
  }
  console.log(JSON.stringify({ report, output }))`

type Answer = { report: Awaited<ReturnType<Executor['probe']>>; output?: string }

/** Asks this machine’s executor from within a process that a container’s filter holds. */
async function inContainer(bench: Bench, seccomp: Uint8Array): Promise<Answer> {
  const parameters = [bench.workspace, owner.uid, owner.gid].map(String)
  const argv = [process.execPath, '--conditions=@ws/source', '--input-type=module', '-e', script, '--', ...parameters]
  const result = await startProcess({ ...confineArgv({ argv, seccomp, env: {} }), cwd: import.meta.dirname }).wait()
  if (result.exitCode !== 0) throw new Error(result.stderr.text)
  return JSON.parse(result.stdout.text) as Answer
}

describeWith([component('proot'), component('perl')], 'a container', () => {
  it('[PC13] without user namespaces runs commands, and says that there is no PID namespace', async () => {
    await using bench = await Bench.create('/')
    const { report, output } = await inContainer(bench, sandboxProgram({ allowPtrace: true }))
    expect(report).toMatchObject({ available: true, details: { processes: 'supervisor' } })
    expect(report.guarantees.processes).not.toBe('kernel')
    expect(output).toBe('/\n')
    expect(await bench.output('cat file')).toBe('made')
  })

  it('[PC13] without ptrace has no executor, and hears what to change', async () => {
    await using bench = await Bench.create('/')
    const { report } = await inContainer(bench, sandboxProgram())
    expect(report.available).toBe(false)
    expect(report.missing.join()).toMatch(/ptrace/)
    expect(report.howToFix.join()).toContain('SYS_PTRACE')
    expect(new Set(Object.values(report.guarantees))).toEqual(new Set(['none']))
  })
})
