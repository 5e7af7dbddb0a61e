import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { pathOfReport, type Tier } from '@ws/test-fixtures/report'

import { readReport } from './reports.ts'
import { capture, repositoryRoot } from './run.ts'

const folder = join(repositoryRoot, 'node_modules/.cache/tests')

/** A package with tests, and the hash of all inputs of their outcome. */
export interface TestedPackage {
  readonly name: string
  readonly of: string
  readonly hash: string
}

/** Hashes packages. Turbo knows their imports, and hashes sources, dependencies and settings. */
export function hashPackages(names: readonly string[], env: NodeJS.ProcessEnv): TestedPackage[] {
  const { tasks } = JSON.parse(capture('turbo', ['run', 'test', '--dry=json'], { env })) as {
    readonly tasks: readonly { task: string; package: string; directory: string; hash: string }[]
  }
  return tasks
    .filter(({ task, directory }) => task === 'test' && names.includes(directory))
    .map((task) => ({ name: task.package, of: task.directory, hash: task.hash }))
}

export function restoreReport({ of, hash }: TestedPackage, tier: Tier): boolean {
  const kept = join(folder, `${hash}.json`)
  if (!existsSync(kept)) return false
  copyTo(kept, join(repositoryRoot, of, pathOfReport(tier)))
  return true
}

export function keepReport({ of, hash }: TestedPackage, tier: Tier): void {
  const report = readReport(of, tier)
  if (report === undefined || report.failures.length > 0) return
  copyTo(join(repositoryRoot, of, pathOfReport(tier)), join(folder, `${hash}.json`))
}

function copyTo(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}
