/** A place of a diff in the V4A form: lines to find, and the lines to put there. */
export interface Hunk {
  /** The lines behind `@@`, each found behind the one before; the hunk lies below them. */
  readonly anchors: readonly string[]
  readonly old: readonly string[]
  readonly new: readonly string[]
  /** The lines are the last ones of the file. */
  readonly atEnd: boolean
}

/** A fault in the form of a patch. */
export class PatchProblem extends Error {}

/** The hunks of the diff of one file. @throws PatchProblem */
export function parseHunks(lines: readonly string[]): Hunk[] {
  const hunks: Hunk[] = []
  let anchors: string[] = []
  let before: string[] = []
  let after: string[] = []
  const end = (atEnd: boolean): void => {
    if (before.length + after.length > 0) {
      hunks.push({ anchors, old: before, new: after, atEnd })
      anchors = []
    }
    before = []
    after = []
  }
  for (const line of lines) {
    if (line === '@@' || line.startsWith('@@ ')) {
      end(false)
      const anchor = line.slice(3)
      if (anchor.trim() !== '') anchors.push(anchor)
    } else if (line.trim() === '*** End of File') end(true)
    else if (line.startsWith('+')) after.push(line.slice(1))
    else if (line.startsWith('-')) before.push(line.slice(1))
    else if (line.startsWith(' ') || line === '') {
      before.push(line.slice(1))
      after.push(line.slice(1))
    } else throw new PatchProblem(`the line \`${line.slice(0, 80)}\` must begin with a space, \`-\`, \`+\` or \`@@\``)
  }
  end(false)
  if (hunks.length === 0) throw new PatchProblem('the diff has no lines with `+` or `-`')
  return hunks
}

/** The content of a new file: lines with `+`. @throws PatchProblem */
export function addedContent(lines: readonly string[]): string {
  const wrong = lines.find((line) => !line.startsWith('+'))
  if (wrong !== undefined)
    throw new PatchProblem(`the line \`${wrong.slice(0, 80)}\` of a new file must begin with \`+\``)
  return lines.map((line) => `${line.slice(1)}\n`).join('')
}
