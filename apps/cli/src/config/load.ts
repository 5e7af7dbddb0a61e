import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { describeProblem } from './problem.ts'
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
  const result = configSchema.safeParse(parseJson(text, shown), { reportInput: true })
  if (!result.success) throw new UsageError(`--config: ${shown}: ${describeProblem(result.error, configSchema)}`)
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
    throw new UsageError(`--config: ${shown} is not JSON (${place ?? 'it ends too early'}); correct it there`)
  }
}
