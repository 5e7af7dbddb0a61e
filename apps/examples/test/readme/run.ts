import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, promisify } from 'node:util'

import type { Example } from './extract.ts'

export const repositoryRoot = join(import.meta.dirname, '../../../..')
/** Ignored by git, and inside this package, which has a link to every package that examples import. */
const directory = join(import.meta.dirname, '../../.test-report/readme')

export interface WrittenExample extends Example {
  /** `packages/kernel/core/README.md:12` */
  readonly place: string
  readonly file: string
}

/** Writes the examples of all files as modules. */
export async function writeExamples(
  sources: readonly { readonly path: string; readonly examples: readonly Example[]; placeOf(line: number): string }[],
): Promise<WrittenExample[]> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const written = sources.flatMap(({ path, examples, placeOf }) =>
    examples.map((example) => {
      const name = `${path.replaceAll(/[^a-zA-Z0-9]+/gu, '-')}-${example.line}.ts`
      return { ...example, place: placeOf(example.line), file: join(directory, name) }
    }),
  )
  // `export {}` makes a module of an example that imports nothing
  await Promise.all(written.map(({ file, code }) => writeFile(file, `${code}\nexport {}\n`)))
  const options = {
    noEmit: true,
    composite: false,
    rewriteRelativeImportExtensions: false,
    allowImportingTsExtensions: true,
    noUnusedLocals: false,
  }
  const config = {
    extends: '../../../../tsconfig.base.json',
    compilerOptions: { ...options, types: ['node'] },
    include: ['*.ts'],
  }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config))
  return written
}

/** Compiles what {@link writeExamples} wrote; gives the compiler's complaints. */
export async function compileExamples(): Promise<string> {
  const compiler = join(repositoryRoot, 'node_modules/.bin/tsc')
  try {
    await promisify(execFile)(compiler, ['-p', directory, '--pretty', 'false'], { cwd: directory })
    return ''
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string }
    return stdout === undefined || stdout === '' ? message : stdout
  }
}

/** Runs one example in the working directory; gives what it printed, a line each. */
export async function runExample({ file }: WrittenExample): Promise<string[]> {
  const printed: string[] = []
  const { log } = console
  console.log = (...values: unknown[]) => void printed.push(...format(...values).split('\n'))
  try {
    await import(file)
  } finally {
    console.log = log
  }
  return printed
}

/** The lines of `expected` that `printed` does not have, in this order. */
export function missingLines(expected: readonly string[], printed: readonly string[]): string[] {
  let at = 0
  return expected.filter((line) => {
    const found = printed.indexOf(line, at)
    if (found === -1) return true
    at = found + 1
    return false
  })
}
