import type { Change } from './compare.ts'

type Lines = readonly string[]

function marked(mark: string, lines: Lines): string {
  return lines.map((line) => `${mark}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`).join('')
}

/** The default format of `diff`: `2,3c2`. */
export function normal(a: Lines, b: Lines, changes: readonly Change[]): string {
  return changes
    .map((change) => {
      const [removed, added] = [a.slice(change.a.start, change.a.end), b.slice(change.b.start, change.b.end)]
      const kind = removed.length === 0 ? 'a' : added.length === 0 ? 'd' : 'c'
      const between = kind === 'c' ? '---\n' : ''
      return `${span(change.a)}${kind}${span(change.b)}\n${marked('< ', removed)}${between}${marked('> ', added)}`
    })
    .join('')
}

/** Line numbers of a range. For an empty range, the number of the line before. */
function span({ start, end }: Change['a']): string {
  return end - start < 2 ? String(end) : `${start + 1},${end}`
}

/** The format of `diff -u`, without the header. */
export function unified(a: Lines, b: Lines, changes: readonly Change[], context: number): string {
  const hunks: Change[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)
    const end = last?.at(-1)?.a.end
    if (last !== undefined && end !== undefined && change.a.start - end <= 2 * context) last.push(change)
    else hunks.push([change])
  }
  return hunks.map((hunk) => hunkText(a, b, hunk, context)).join('')
}

function hunkText(a: Lines, b: Lines, hunk: readonly Change[], context: number): string {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (first === undefined || last === undefined) return ''
  const before = Math.min(context, first.a.start)
  const after = Math.min(context, a.length - last.a.end)
  const ranges = [
    { start: first.a.start - before, end: last.a.end + after },
    { start: first.b.start - before, end: last.b.end + after },
  ]
  let text = `@@ -${ranges.map(unifiedSpan).join(' +')} @@\n`
  let line = first.a.start - before
  for (const change of hunk) {
    text += marked(' ', a.slice(line, change.a.start))
    text += marked('-', a.slice(change.a.start, change.a.end)) + marked('+', b.slice(change.b.start, change.b.end))
    line = change.a.end
  }
  return text + marked(' ', a.slice(line, line + after))
}

function unifiedSpan({ start, end }: Change['a']): string {
  const length = end - start
  return length === 1 ? String(end) : `${length === 0 ? start : start + 1},${length}`
}
