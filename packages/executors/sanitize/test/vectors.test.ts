/** @module-tag all */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

import type { CommandResult } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, describeWith, itWith, deep } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openSite, secret, type Site, treeOf } from './support.ts'
import { escapes, files, links } from './vectors/files.ts'

interface Run {
  readonly command: string
  readonly exitCode: number
  readonly stdout: string
  readonly stderr?: string
}

const read = <Data>(name: string) =>
  JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8')) as Data
const allRuns = read<readonly Run[]>('runs')
// Up to here nothing is changed, so that some can be left out; what follows builds upon what came before.
const firstChange = allRuns.findIndex(({ command }) => / > |tee /.test(command))
const runs = deep ? allRuns : allRuns.filter((_, index) => index >= firstChange || index % 10 === 0)
const refusals = Object.entries(read<Readonly<Record<string, readonly string[]>>>('refusals')).flatMap(
  ([reason, commands]) => commands.map((command) => ({ command, reason })),
)

/** The words of each kind of refusal. */
const reasons: Readonly<Record<string, RegExp>> = {
  syntax: /cannot be read with certainty/,
  unknown: /not known before the shell runs/,
  climbs: /may climb out/,
  system: /not a part of the system that commands may use/,
  link: /is a link, or runs through one/,
  program: /is not known here.*; name `\w+` in `trustPrograms`, or take/,
  script: /runs code of the workspace/,
  code: /runs code that cannot be judged/,
  option: /is an option that cannot be judged/,
  shown: /would see paths of this machine/,
  stored: /would store paths of this machine/,
  mount: /another mount/,
  construct: /cannot be judged; (?:write|use|put) /,
  held: /into a variable, whose use is not followed/,
  unquoted: /is split by the shell.*; put it between double quotes/,
  variable: /changes how every later command is read/,
}

/** Other executors run these; the remedy names them. */
const runsElsewhere = (reason: string) => reason !== 'syntax' && reason !== 'system'
const executors = /take another executor: bubblewrap or proot, which have a view, or virtual(?:, if it has `\w+`)?$/

/** Runs all commands one after the other in a single view, as if each were a call of its own. */
async function runAll(site: Site): Promise<(Pick<CommandResult, 'stdout' | 'stderr'> & { exitCode: number })[]> {
  // Hidden, in the scratch: no command lists it.
  await site.workspace.createDirectory('/tmp/.v')
  for (const [index, { command }] of runs.entries()) await site.workspace.write(`/tmp/.v/${index}`, command)
  const driver = `for i in $(seq 0 ${runs.length - 1}); do
    (cd /; exec /bin/bash --noprofile --norc -c "$(cat /tmp/.v/$i; printf .)") > /tmp/.v/$i.out 2> /tmp/.v/$i.err < /dev/null
    echo $? > /tmp/.v/$i.code
  done`
  // The full stop keeps line ends at the end; a comment takes it away again.
  const result = await site.run(driver.replace('; printf .', `; printf '\\n#'`), { timeout: 300_000 })
  expect(result.stderr).toBe('')
  const text = (index: number, kind: string) => site.workspace.readText(`/tmp/.v/${index}.${kind}`)
  return Promise.all(
    runs.map(async (_, index) => ({
      exitCode: Number(await text(index, 'code')),
      stdout: await text(index, 'out'),
      stderr: await text(index, 'err'),
    })),
  )
}

/** Runs every command where it was written down what comes of it, one after the other in one workspace. */
async function runEach(site: Site): Promise<void> {
  for (const { command, exitCode, stdout, stderr = '' } of runs) {
    const result = await site.run(command)
    expect({ command, exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr }).toEqual({
      command,
      exitCode,
      stdout,
      stderr,
    })
  }
}

describeWith(component('bash'), 'commands that run', () => {
  itWith(
    [component('bubblewrap'), component('proot')],
    `[PC9] ${runs.length} commands do what was written down for each, as in bubblewrap at /: output, exit code and tree`,
    async () => {
      await using site = await openSite({ executor: createSanitizeExecutor(), files, links })
      await using view = await openSite({ executor: createBubblewrapExecutor(), files, links })
      const [results] = await Promise.all([runAll(view), runEach(site)])
      for (const [index, { command, exitCode, stdout, stderr = '' }] of runs.entries()) {
        const { exitCode: code = -1, stdout: out = '', stderr: err = '' } = results[index] ?? {}
        expect({ command, exitCode: code, stdout: out, stderr: err }).toEqual({ command, exitCode, stdout, stderr })
      }
      expect(await treeOf(site.directory)).toEqual(await treeOf(view.directory))
    },
    { tags: 'rounds', timeout: 300_000 },
  )

  // Landlock changes nothing for what stays inside; and where there is no bubblewrap the records still hold.
  it('[PC9] the same without Landlock', { tags: 'deep' }, async () => {
    await using site = await openSite({ executor: createSanitizeExecutor({ landlock: 'off' }), files, links })
    await runEach(site)
  })
})

for (const landlock of ['auto', 'off'] as const) {
  describe(`commands that are refused, Landlock ${landlock}`, () => {
    let site: Site
    let before: Record<string, string>
    beforeAll(async () => {
      site = await openSite({ executor: createSanitizeExecutor({ landlock }), files, links: { ...links, ...escapes } })
      before = await treeOf(site.outside)
    })
    afterAll(() => site[Symbol.asyncDispose]())

    it(`[PC9] ${refusals.length} commands are refused, each with its reason, and nothing of them has run`, {
      timeout: 60_000,
    }, async () => {
      const wrong: string[] = []
      for (const { command, reason } of refusals) {
        const { code, message } = await site.refusal(command)
        const right =
          code === (reason === 'syntax' ? 'EINVAL' : 'EUNENFORCEABLE') &&
          reasons[reason]?.test(message) &&
          executors.test(message) === runsElsewhere(reason)
        if (!right || message.includes(site.outside) || message.includes(secret))
          wrong.push(`${command}: not refused as ${reason}, but ${code}: ${message}`)
      }
      expect(wrong).toEqual([])
      expect(await treeOf(site.outside)).toEqual(before)
      expect(await readFile(`${site.outside}/secret.txt`, 'utf8')).toBe(`${secret}\n`)
    })
  })
}
