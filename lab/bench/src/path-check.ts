import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { own, type Report, summary } from './measure.ts'

interface Result {
  readonly mounts: number
  readonly rules: number
  readonly denying: boolean
  readonly nanoseconds: readonly number[]
}

/** Measures the cost of a path before any I/O. The function is not public, so a program of the core measures it. */
export async function measurePathCheck(report: Report): Promise<void> {
  const core = dirname(fileURLToPath(import.meta.resolve('@ws/core/package.json')))
  const program = join(core, 'bench/path-check.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@ws/source', program])
  for (const { mounts, rules, denying, nanoseconds } of JSON.parse(stdout) as Result[]) {
    const microseconds = nanoseconds.map((time) => time / 1_000)
    const scale = `${mounts.toLocaleString('en')} mounts, ${rules.toLocaleString('en')} rules`
    report({
      section: 'path check',
      name: `path check: ${scale}${denying ? ', half of them deny' : ''}`,
      against: 'µs',
      target: denying ? 0.9 : 0.5,
      figures: [summary(own, microseconds)],
    })
  }
}
