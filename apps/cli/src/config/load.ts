import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { isTrusted, shownFile, untrusted } from './find.ts'
import { lineOf, lineOfError } from './lines.ts'
import { describeProblem, placeOfProblem } from './problem.ts'
import { configSchema, type Config } from './schema.ts'
import { trustedHash } from './trusted.ts'

export interface LoadedConfig extends Config {
  readonly directory: string
  readonly file: string
  readonly shown: string
  /** True if the user trusts the content. */
  readonly trusted: boolean
}

/** Reads and checks a config file that an option names. @throws UsageError naming the file, the place and the remedy */
export async function loadConfig(file: string): Promise<LoadedConfig> {
  const shown = quotePath(file)
  if (file === '' || file.includes('\0'))
    throw new UsageError(`--config: ${shown} cannot be a file name; give the path of a config file`)
  const named = `--config: ${shown}`
  const content = await readConfig(file, named, () => 'give the path of a config file')
  const trusted = isTrusted(resolve(file), content, named)
  return { ...parseConfig(content.toString('utf8'), file, shown), shown: named, trusted }
}

/** Reads and checks a config file that no option names. @throws UsageError like {@link loadConfig}, or for an untrusted file */
export async function loadFoundConfig(file: string): Promise<LoadedConfig> {
  const content = await readFound(file)
  const shown = shownFile(file)
  if (!isTrusted(file, content, shown)) throw untrusted(shown, ', or name a workspace with --root') // @defence that a command plants: could have planted
  return { ...parseConfig(content.toString('utf8'), file, shown), shown, trusted: true }
}

/** Reads a file. Refuses a pipe or a device, since reading it may never end. @throws UsageError */
export async function readFound(file: string): Promise<Buffer> {
  const known = trustedHash(file) !== undefined
  const elsewhere = known ? 'run `ws trust --forget` on it' : 'name the workspace with --root DIR'
  return await readConfig(file, shownFile(file), (mend) => `${mend}, or ${elsewhere}`)
}

async function readConfig(file: string, shown: string, remedyOf: (mend: string) => string): Promise<Buffer> {
  try {
    const isOwn = descriptor.test(file)
    await using opened = await open(file, isOwn ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await opened.stat()
    if (!stat.isFile() && !isOwn) throw new UsageError(`${shown} is not a file; ${remedyOf('remove it')}`)
    if (stat.size > mostBytes) throw new UsageError(`${shown} is larger than 1 MiB; ${remedyOf('correct it')}`)
    return await opened.readFile()
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && trustedHash(file) !== undefined) {
      throw new UsageError(`${shown} is gone, and you trusted it; put it back, or run \`ws trust --forget\` on it`)
    }
    throw new UsageError(`${shown} cannot be read (${code}); ${remedyOf('correct it')}`)
  }
}

const mostBytes = 1_048_576
const descriptor = /^\/(?:dev|proc\/self)\/(?:fd\/\d+|stdin)$/u

/** @throws UsageError with the place in the file and the remedy */
export function parseConfig(text: string, file: string, shown: string): Omit<LoadedConfig, 'shown' | 'trusted'> {
  const result = configSchema.safeParse(parseJson(text, shown), { reportInput: true })
  if (!result.success) {
    const path = placeOfProblem(result.error)
    const line = path.length === 0 ? '' : `, line ${lineOf(text, path)}`
    throw new UsageError(`--config: ${shown}${line}: ${describeProblem(result.error, configSchema)}`)
  }
  return { ...result.data, file: resolve(file), directory: dirname(resolve(file)) }
}

function parseJson(content: string, shown: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    // Node's message quotes the content of the file, so keep only the position
    const text = String(error)
    const place =
      /line \d+ column \d+/u.exec(text)?.[0] ?? /Unexpected token (?:'.'|"'")/u.exec(text)?.[0].toLowerCase()
    const line = place?.startsWith('line') ? '' : ` in line ${lineOfError(content) ?? 1}`
    throw new UsageError(`--config: ${shown} is not JSON (${place ?? 'it ends too early'})${line}; correct it there`)
  }
}
