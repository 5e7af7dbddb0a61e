import { Output, parseArguments, pathOf, wordsOf } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
import type { Fetch } from '../remote-files.ts'

export const curlOptions = {
  flags: 'sSfLO',
  valued: 'om',
  long: ['silent', 'show-error', 'fail', 'location', 'remote-name', 'output=', 'max-time='],
}

const exitCodes: Readonly<Record<string, number>> = {
  EINVAL: 3,
  EACCES: 6,
  ENOENT: 6,
  EBACKEND: 7,
  ETIMEDOUT: 28,
  ELOOP: 47,
  EFBIG: 63,
}

/** The command `curl`: downloads to standard output, or to one file for each URL. */
export function curlWith(fetch: Fetch): ScriptTool {
  return async (call) => {
    const output = new Output()
    const { options, operands: urls } = parseArguments(curlOptions, call.given)
    const has = (...names: readonly string[]) => options.some(({ name }) => names.includes(name))
    const valuesOf = (...names: readonly string[]) =>
      options.flatMap(({ name, value }) => (names.includes(name) && value !== undefined ? [value] : []))
    const says = !has('-s', '--silent') || has('-S', '--show-error')
    const fail = (exitCode: number, reason: string) => {
      if (says) output.note(`curl: (${exitCode}) ${reason}\n`)
      output.exitCode = exitCode
    }
    const seconds = valuesOf('-m', '--max-time').at(-1)
    if (seconds !== undefined && !/^\d+(?:\.\d+)?$/.test(seconds)) {
      output.fail(`curl: option -m: expected a proper numerical parameter`, 2)
      return output.result()
    }
    if (urls.length === 0) {
      output.fail('curl: no URL specified!', 2)
      return output.result()
    }
    const timeout = seconds === undefined || Number(seconds) === 0 ? undefined : Number(seconds) * 1000
    const files = valuesOf('-o', '--output')
    for (const [index, given] of urls.entries()) {
      const url = given.includes('://') ? given : `http://${given}`
      const place = files[index] ?? (has('-O', '--remote-name') ? nameIn(url) : '-')
      if (place === '') {
        fail(3, 'the URL has no file name at its end; name one with -o')
        continue
      }
      const fetched = await fetch({ url, follow: has('-L', '--location'), timeout })
      if ('code' in fetched) {
        fail(exitCodes[fetched.code] ?? 7, fetched.reason)
        continue
      }
      output.exitCode = 0
      if (fetched.status >= 400 && has('-f', '--fail')) {
        fail(22, `The requested URL returned error: ${fetched.status}`)
        continue
      }
      if (place === '-') {
        output.write(Buffer.from(fetched.body).toString('latin1'))
        continue
      }
      try {
        await call.context.fs.writeFile(pathOf(call, place), fetched.body)
      } catch (error) {
        fail(23, `${place}: ${wordsOf(error)}`)
      }
    }
    return output.result()
  }
}

function nameIn(url: string): string {
  return /^[^?#]*?:\/\/[^/?#]*\/(?:[^?#]*\/)?([^/?#]*)/.exec(url)?.[1] ?? ''
}
