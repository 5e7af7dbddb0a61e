import { errorWords } from '@ws/shell-tools/files'
import type { Failure } from '../files/failures.ts'

const nodeStyle = /\b(E[A-Z]{2,}): [^\n']*, [a-z]+ '([^\n]*)'$/
const missing = /: (?:No such file or directory|cannot open redirect target)$/

/** Messages in which just-bash's `split` omits the reason. */
const unexplained = /^split: (?:failed to write output|cannot safely identify output file '.*')$/

/** The final path of a staging file of just-bash's `split`. */
export const target = (path: string) => path.replace(/\/\.([^/]*)\.just-bash-split-stage-\d+$/, '/$1')

/** Corrects messages. Many just-bash commands print "No such file or directory" for every error, which misleads models. */
export function wordRefusals(stderr: string, failures: readonly Failure[]): string {
  if (failures.length === 0 && !/\bE[A-Z]{2,}: |cannot open redirect target/.test(stderr)) return stderr
  const left = [...failures]
  return stderr
    .split('\n')
    .map((line) => {
      const worded = line.replace(nodeStyle, (whole, code: string, path: string, at: number) => {
        const words = errorWords[code] ?? whole
        // Add the path where the line has none, as in `find: EACCES: …` and `cp: cannot copy 'a': EACCES: …`.
        return names(line.slice(0, at).replace(/['"]?: $/, ''), path) ? words : `${path}: ${words}`
      })
      const last = left.at(-1)
      if (unexplained.test(worded) && last !== undefined) return `split: ${target(last.path)}: ${errorWords[last.code]}`
      if (!missing.test(worded)) return worded
      const subject = worded
        .replace(missing, '')
        .replace(/['"]?\/*['"]?$/, '')
        .replace(/\/(?:\.?\/)+/g, '/')
      const place = left.findIndex(({ path }) => names(subject, path))
      const [failure] = place === -1 ? [] : left.splice(place, 1)
      return worded.replace(missing, `: ${errorWords[failure?.code ?? 'ENOENT'] ?? failure?.code}`)
    })
    .join('\n')
}

/** Rewords an unhandled error, like {@link wordRefusals}. */
export function wordError(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : ''
  const [, code = '', path] = nodeStyle.exec(message) ?? []
  const words = errorWords[code]
  return words === undefined ? undefined : `${path}: ${words}`
}

/** True if a text ends with the path, or with the part of the path that the script wrote. */
function names(text: string, path: string): boolean {
  const segments = path.split('/').filter(Boolean)
  return segments.some((_, index) => {
    const tail = segments.slice(index).join('/')
    return text.endsWith(tail) && /(?:^|[\s'"])(?:\.{0,2}\/)*$/.test(text.slice(0, -tail.length))
  })
}
