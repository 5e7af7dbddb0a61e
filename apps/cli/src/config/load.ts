import { constants } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { checkTrusted, shownFile } from './find.ts'
import { lineOf, lineOfError } from './lines.ts'
import { describeProblem, placeOfProblem } from './problem.ts'
import { configSchema, type Config } from './schema.ts'

export interface LoadedConfig extends Config {
  /** The host directory that relative paths in it start from. */
  readonly directory: string
}

/**
 * Reads and checks a config file.
 *
 * @throws UsageError naming the file as it was typed, the place in it and the remedy.
 */
export async function loadConfig(file: string): Promise<LoadedConfig> {
  const shown = quotePath(file)
  if (file === '' || file.includes('\0'))
    throw new UsageError(`--config: ${shown} cannot be a file name; give the path of a config file`)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--config: ${shown} cannot be read (${error.code ?? 'EIO'}); give the path of a config file`)
  })
  return parseConfig(text, file, shown)
}

/**
 * Reads and checks a config file that no option names. The user must trust its content.
 *
 * @throws UsageError as {@link loadConfig}, and where the user does not trust it
 */
export async function loadFoundConfig(file: string): Promise<LoadedConfig> {
  const content = await readFound(file)
  checkTrusted(file, content)
  return parseConfig(content.toString('utf8'), file, shownFile(file))
}

/**
 * The bytes of a config file that a command may have put there. A pipe or a device is refused, since reading it may never
 * end.
 *
 * @throws UsageError
 */
export async function readFound(file: string): Promise<Buffer> {
  const shown = shownFile(file)
  const elsewhere = 'name the workspace with --root DIR'
  try {
    await using opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await opened.stat()
    if (!stat.isFile()) throw new UsageError(`${shown} is not a file; remove it, or ${elsewhere}`)
    if (stat.size > mostBytes) throw new UsageError(`${shown} is larger than 1 MiB; correct it, or ${elsewhere}`)
    return await opened.readFile()
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') {
      throw new UsageError(`${shown} is gone, and you trusted it; put it back, or run \`ws trust --forget\``)
    }
    throw new UsageError(`${shown} cannot be read (${code}); correct it, or ${elsewhere}`)
  }
}

const mostBytes = 1_048_576

/** @throws UsageError naming the place in the file and the remedy */
export function parseConfig(text: string, file: string, shown: string): LoadedConfig {
  const result = configSchema.safeParse(parseJson(text, shown), { reportInput: true })
  if (!result.success) {
    const path = placeOfProblem(result.error)
    const line = path.length === 0 ? '' : `, line ${lineOf(text, path)}`
    throw new UsageError(`--config: ${shown}${line}: ${describeProblem(result.error, configSchema)}`)
  }
  return { ...result.data, directory: dirname(resolve(file)) }
}

function parseJson(content: string, shown: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    // Node's message quotes the file's content around the place, so only the place is kept
    const text = String(error)
    const place =
      /line \d+ column \d+/u.exec(text)?.[0] ?? /Unexpected token (?:'.'|"'")/u.exec(text)?.[0].toLowerCase()
    const line = place?.startsWith('line') ? '' : ` in line ${lineOfError(content) ?? 1}`
    throw new UsageError(`--config: ${shown} is not JSON (${place ?? 'it ends too early'})${line}; correct it there`)
  }
}
