import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { capture, repositoryRoot } from '../../scripts/lib/run.ts'
import type { Located, NamedTest } from './types.ts'

export interface TestOutcome {
  readonly passed: number
  readonly failed: number
  /** The last lines of output, for a run without counted tests. */
  readonly output: string
}

export class RepositoryCopy {
  readonly root: string

  constructor() {
    // Programs that run as an ordinary user read the copy too.
    this.root = mkdtempSync(join(tmpdir(), 'ws-mutate-'))
    execFileSync('chmod', ['755', this.root])
    const files = capture('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0')
    for (const file of files.filter((name) => name !== '')) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true })
      cpSync(join(repositoryRoot, file), join(this.root, file), { verbatimSymlinks: true, force: true })
    }
    capture('npm', ['run', '-s', 'setup'], { cwd: this.root })
  }

  /** Runs one test file of its package with the changes applied, and reverts them. */
  runWith(changes: Located['changes'], test: NamedTest): TestOutcome {
    const originals = new Map<string, string>()
    try {
      for (const { file, text, by = '' } of changes) {
        const path = join(this.root, file)
        const source = readFileSync(path, 'utf8')
        if (!originals.has(path)) originals.set(path, source)
        writeFileSync(
          path,
          source.replace(text, () => by),
        )
      }
      return this.#run(test)
    } finally {
      for (const [path, source] of originals) writeFileSync(path, source)
    }
  }

  #run({ file, title }: NamedTest): TestOutcome {
    const [, folder = '', inside = ''] =
      /^((?:packages\/[a-z]+|packages|apps|lab)\/[^/]+|test-fixtures)\/(.+)$/u.exec(file) ?? []
    const report = join(this.root, 'mutate-report.json')
    rmSync(report, { force: true })
    const filter = title === undefined ? [] : ['-t', title]
    let output = ''
    try {
      output = execFileSync(
        // the copy's own vitest: tests and runner must belong to one installation
        join(this.root, 'node_modules/.bin/vitest'),
        ['run', inside, ...filter, '--bail', '1', '--reporter', 'json', '--outputFile', report],
        { cwd: join(this.root, folder), encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 },
      )
    } catch (error) {
      output = `${(error as { stdout?: string }).stdout ?? ''}${(error as { stderr?: string }).stderr ?? ''}`
    }
    const counts = readReport(report)
    return { ...counts, output: output.split('\n').slice(-15).join('\n') }
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

function readReport(path: string): { passed: number; failed: number } {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>
    return { passed: numPassedTests ?? 0, failed: numFailedTests ?? 0 }
  } catch {
    return { passed: 0, failed: 0 }
  }
}
