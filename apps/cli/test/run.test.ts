/** @module-tag all */
import { once } from 'node:events'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createProject, end, giveToOwner, startWs, ws } from './ws.ts'

const command = (id: string, run: string, more = ''): string =>
  `  - { id: ${id}, type: command, outputs: [${id}], with: { run: '${run}' }${more} }\n`

/** A project with a plan, and the arguments of `ws run` on it. */
async function createPlan(steps: string): Promise<{ scratch: ScratchDirectory; args: string[] }> {
  const scratch = await createProject({ 'workspace/a.txt': 'hello\n', 'plan.yaml': `version: 1\nsteps:\n${steps}` })
  await mkdir(join(scratch.path, 'state'))
  await giveToOwner(scratch)
  const at = (name: string): string => join(scratch.path, name)
  const args = [
    'run',
    at('plan.yaml'),
    '--workspace',
    at('workspace'),
    '--output',
    at('out'),
    '--state',
    at('state/runs'),
  ]
  return { scratch, args }
}

describeWith(component('bubblewrap'), 'ws run', () => {
  it('runs a plan, shows each step in a line, and writes a report', async () => {
    const { scratch, args } = await createPlan(command('copy', 'cat a.txt > $OUTPUT/copy', ', inputs: [a.txt]'))
    await using _ = scratch
    const report = join(scratch.path, 'report.html')
    const first = await ws([...args, '--report', report])
    expect(first).toMatchObject({ code: 0, stdout: 'done    copy\ndone: 1 done\n', stderr: '' })
    expect(await readFile(join(scratch.path, 'out/copy'), 'utf8')).toBe('hello\n')
    expect(await readFile(report, 'utf8')).toContain('id="step-copy"')
    const second = await ws([...args, '--json'])
    const lines = second.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines.at(-1)).toMatchObject({ state: 'done', steps: { copy: { state: 'current' } } })
  })

  it('tells the faults of a plan with their lines, ends with 2, and runs nothing', async () => {
    const { scratch, args } = await createPlan(
      `${command('a', 'touch $OUTPUT/a')}  - { id: b, type: magic, needs: [c] }\n`,
    )
    await using _ = scratch
    const { code, stdout, stderr } = await ws(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/plan\.yaml`: line 4, step `b`: `magic` is not a type of step/u)
    expect(stderr).toMatch(/line 4, step `b`: `needs` names `c`/u)
    await expect(stat(join(scratch.path, 'out/a'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('only lists the steps with --dry-run', async () => {
    const { scratch, args } = await createPlan(command('a', 'touch $OUTPUT/a'))
    await using _ = scratch
    expect(await ws([...args, '--dry-run'])).toMatchObject({ code: 0, stdout: 'a  command\n' })
    await expect(stat(join(scratch.path, 'out/a'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('ends with 1 when a step fails, and says why', async () => {
    const { scratch, args } = await createPlan(command('a', 'cat a.txt > $OUTPUT/a'))
    await using _ = scratch
    const { code, stdout } = await ws(args)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^failed {2}a: /u)
  })

  it('[PM3] stops at a step that writes outside its outputs', async () => {
    const { scratch, args } = await createPlan(`${command('a', 'echo x > $OUTPUT/a; echo x > $OUTPUT/other')}`)
    await using _ = scratch
    const { code, stdout } = await ws(args)
    expect(code).toBe(1)
    expect(stdout).toContain('ESECURITY')
    await expect(stat(join(scratch.path, 'out/a'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('ends everything after Ctrl-C, and resumes', async () => {
    const wait = command(
      'wait',
      'test -e a.txt && until test -e go.txt; do sleep 0.05; done; echo done > $OUTPUT/wait',
      ', inputs: [.]',
    )
    const { scratch, args } = await createPlan(command('first', 'date +%N > $OUTPUT/first') + wait)
    await using _ = scratch
    const child = startWs(args)
    const ended = end(child)
    try {
      const { promise: firstIsDone, resolve } = Promise.withResolvers<void>()
      child.stdout?.on('data', (chunk: Buffer) => chunk.includes('first') && resolve())
      await firstIsDone
      child.kill('SIGINT')
      expect(await ended).toMatchObject({ code: 130, stderr: expect.stringContaining('--resume goes on') })
    } finally {
      child.kill('SIGKILL')
      await (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined)
    }
    const before = await readFile(join(scratch.path, 'out/first'), 'utf8')
    await writeFile(join(scratch.path, 'workspace/go.txt'), '')
    expect(await ws([...args, '--resume'])).toMatchObject({ code: 0 })
    expect(await readFile(join(scratch.path, 'out/first'), 'utf8')).toBe(before)
    expect(await readFile(join(scratch.path, 'out/wait'), 'utf8')).toBe('done\n')
  })
})
