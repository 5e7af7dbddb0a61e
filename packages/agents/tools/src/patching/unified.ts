import type { FilePatch } from './envelope.ts'
import { PatchProblem } from './hunks.ts'

const heads = /^(?:diff |index |similarity index |(?:new|deleted) file mode )/u
const nowhere = '/dev/null'

/** `undefined` without a unified diff. @throws PatchProblem for renames, modes, binary files, and a change of the last line end alone */
export function parseUnified(lines: readonly string[]): FilePatch[] | undefined {
  const starts = lines.flatMap((_line, index) => (isHead(lines, index) ? [index] : []))
  if (starts.length === 0) return undefined
  const odd = lines.find((line) => /^(?:rename |copy |old mode |new mode |Binary files |GIT binary patch)/u.test(line))
  if (odd !== undefined) throw new PatchProblem(`a unified diff with \`${odd.slice(0, 80)}\` is not taken`)
  return starts.map((start, index) => fileOf(lines.slice(start, starts[index + 1])))
}

/** Tests three lines together: a removed line may look like one of the three, but not like all. */
function isHead(lines: readonly string[], index: number): boolean {
  const [from = '', to = '', hunk = ''] = lines.slice(index, index + 3)
  return from.startsWith('--- ') && to.startsWith('+++ ') && hunk.startsWith('@@')
}

function fileOf([from = '', to = '', ...rest]: readonly string[]): FilePatch {
  const [old, path] = [from, to].map((line) => line.slice(4).split('\t', 1)[0]?.trim() ?? '') as [string, string]
  const isGit = (old === nowhere || old.startsWith('a/')) && (path === nowhere || path.startsWith('b/'))
  const [before, after] = [old, path].map((one) => (isGit && one !== nowhere ? one.slice(2) : one)) as [string, string]
  if (before === nowhere && after === nowhere) throw new PatchProblem('a file is `/dev/null` on both sides')
  const diff = bodyOf(rest)
  if (after === nowhere) return { type: 'delete_file', path: before, diff: [] }
  if (before === nowhere)
    return { type: 'create_file', path: after, diff: diff.filter((line) => !line.startsWith('@@')) }
  if (before !== after && before !== `${after}.orig`) {
    throw new PatchProblem(`its two names differ: \`${before}\` and \`${after}\``)
  }
  return { type: 'update_file', path: after, diff }
}

function bodyOf(lines: readonly string[]): string[] {
  const body: string[] = []
  for (const [index, line] of lines.entries()) {
    if (heads.test(line)) break
    // the last line is a fence, or the end of a here-document
    if (index === lines.length - 1 && /^(?:`{3,}|~{3,}|[A-Z_]+)$/u.test(line)) break
    if (!line.startsWith('\\ ')) body.push(line)
    else if (!lines[index - 1]?.startsWith(' '))
      throw new PatchProblem('it changes the end of the last line, which only `write` can')
  }
  while (body.at(-1)?.trim() === '') body.pop()
  return body
}
