import { createScratchDirectory } from '@ws/test-fixtures'
import type { Workspace } from '@ws/core'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { open } from '../support.ts'

export interface Comparison {
  /** Cases that bash can read. */
  readonly count: number
  readonly same: number
  readonly refused: readonly string[]
  readonly differing: readonly string[]
}

const [begin, end, invalid] = ['\u001e', '\u001f', '\u001d']

/** Cases as one script: what each prints stands between marks, with its status. */
function scriptOf(cases: readonly string[]): string {
  return cases
    .map((text) => `printf '${begin}'\n(\n${text}\n) < /dev/null 2> /dev/null\nprintf '${end}%s' $?\n`)
    .join('')
}

/** The same for bash, which says first whether it can read a case. */
function checkedScriptOf(cases: readonly string[]): string {
  return cases
    .map((text) => {
      const quoted = `f() {\n${text}\n}`.replaceAll("'", "'\\''")
      return `printf '${begin}'\nif eval '${quoted}' 2> /dev/null; then (f) < /dev/null 2> /dev/null; printf '${end}%s' $?; else printf '${invalid}'; fi\n`
    })
    .join('')
}

const outputsOf = (stdout: string) => stdout.split(begin).slice(1)

/** Compares cases with bash: each is a script of builtins that writes nothing. They run in a directory with some files. */
export async function compare(
  drawn: readonly string[],
  names: readonly string[] = [],
  batch = 50,
): Promise<Comparison> {
  await using workspace = await open({ files: Object.fromEntries(names.map((name) => [`/cases/${name}`, ''])) })
  await workspace.exec('mkdir -p /cases')
  await using directory = await createScratchDirectory()
  for (const name of names) {
    const path = join(directory.path, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '')
  }
  const answers = inBash(drawn, directory.path)
  const cases = drawn.filter((_, index) => answers[index] !== invalid)
  const expected = answers.filter((answer) => answer !== invalid)
  const refused: string[] = []
  const differing: string[] = []
  for (let from = 0; from < cases.length; from += batch) {
    const part = cases.slice(from, from + batch)
    for (const [index, output] of (await inWorkspace(part, workspace)).entries()) {
      const reference = expected[from + index] ?? ''
      // Other files lie at the root of a machine.
      if (names.length > 0 && /<\/+[a-z]/.test(`${output}${reference}`)) continue
      if (output === undefined) refused.push(part[index] ?? '')
      else if (output !== reference)
        differing.push(`${part[index]}\n  here ${JSON.stringify(output)}\n  bash ${JSON.stringify(reference)}`)
    }
  }
  return { count: cases.length, same: cases.length - refused.length - differing.length, refused, differing }
}

/** One bash, without programs. */
function inBash(cases: readonly string[], directory: string): string[] {
  const { stdout, error } = spawnSync('/bin/bash', ['--noprofile', '--norc', '-s'], {
    cwd: directory,
    env: { PATH: '/nonexistent', LANG: 'C.UTF-8', HOME: '/home' },
    input: checkedScriptOf(cases),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: 120_000,
  })
  if (error !== undefined) throw error
  const outputs = outputsOf(stdout)
  if (outputs.length !== cases.length)
    throw new Error(`bash ran ${outputs.length} of ${cases.length} cases: ${cases[outputs.length - 1]}`)
  return outputs
}

/** Undefined for a case that is refused. */
async function inWorkspace(cases: readonly string[], workspace: Workspace): Promise<(string | undefined)[]> {
  if (cases.length === 0) return []
  const { stdout, stderr, exitCode } = await workspace.exec(scriptOf(cases), { cwd: '/cases', env: { HOME: '/home' } })
  const outputs = outputsOf(stdout)
  if (outputs.length === cases.length && exitCode !== 126) return outputs
  if (outputs.length === 0) {
    // The script has been refused before it began, or cannot be read.
    if (cases.length === 1)
      return [
        exitCode === 126 || /: syntax error: |unexpected EOF/.test(stderr) ? undefined : `exit ${exitCode}: ${stderr}`,
      ]
    const half = cases.length >> 1
    return [
      ...(await inWorkspace(cases.slice(0, half), workspace)),
      ...(await inWorkspace(cases.slice(half), workspace)),
    ]
  }
  const ran = outputs.length - 1
  return [...outputs.slice(0, ran), undefined, ...(await inWorkspace(cases.slice(ran + 1), workspace))]
}
