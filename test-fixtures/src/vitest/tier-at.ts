import { type Tier, tierOf } from '../tier.ts'

const moduleTag = /^\/\*\*[^/]*@module-tag (\w+)/u
/** Literal tags of a test. With tags that depend on a value, one form of the test is in the short tier. */
const literalTags = /\btags: (?:'(\w+)'|\[('\w+'(?:, '\w+')*)\])/u

/** The tier of a test, by the line of its title (`index` from 0): tags of the test, its groups and the file, in formatted source. */
export function tierAt(lines: readonly string[], index: number): Tier {
  const tags = [moduleTag.exec(lines[0] ?? '')?.[1] ?? '']
  let indent = Infinity
  for (let at = index; at >= 0; at -= 1) {
    const line = lines[at] ?? ''
    if (line.trim() === '' || indentOf(line) >= indent) continue
    indent = indentOf(line)
    tags.push(...tagsIn(line), ...(line.endsWith('(') ? argumentsOf(lines, at).flatMap(tagsIn) : []))
  }
  return tierOf(tags)
}

/** Lines of a call's arguments, without function bodies. */
function argumentsOf(lines: readonly string[], at: number): string[] {
  const indent = indentOf(lines[at] ?? '')
  const end = lines.findIndex((line, index) => index > at && line.trim() !== '' && indentOf(line) <= indent)
  const inside = lines.slice(at + 1, end === -1 ? lines.length : end)
  return inside.filter((line, index) => {
    const depth = indentOf(line) - indent
    return (
      depth === 2 ||
      (depth === 4 &&
        inside.slice(0, index).findLast((above) => indentOf(above) < indentOf(line)) === `${' '.repeat(indent + 2)}{`)
    )
  })
}

function tagsIn(line: string): string[] {
  const [, one, several = ''] = literalTags.exec(line) ?? []
  return one === undefined ? [...several.matchAll(/\w+/gu)].map(([tag]) => tag) : [one]
}

const indentOf = (line: string): number => line.length - line.trimStart().length
