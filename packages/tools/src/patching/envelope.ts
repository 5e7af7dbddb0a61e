import { PatchProblem } from './hunks.ts'

/** A change of one file. */
export interface FilePatch {
  readonly type: 'create_file' | 'update_file' | 'delete_file'
  readonly path: string
  readonly diff: readonly string[]
  readonly moveTo?: string | undefined
}

/** The files of a patch between `*** Begin Patch` and `*** End Patch`. @throws PatchProblem */
export function parseEnvelope(text: string): FilePatch[] {
  const lines = linesOfDiff(text.trim())
  if (lines[0]?.trim() !== '*** Begin Patch') throw new PatchProblem('the first line must be `*** Begin Patch`')
  if (lines.at(-1)?.trim() !== '*** End Patch') throw new PatchProblem('the last line must be `*** End Patch`')
  const files: (FilePatch & { diff: string[]; moveTo?: string })[] = []
  for (const line of lines.slice(1, -1)) {
    const [, word = '', path = ''] = /^\*\*\* (Add|Update|Delete) File: (.+)$/u.exec(line) ?? []
    const [, moveTo] = /^\*\*\* Move to: (.+)$/u.exec(line) ?? []
    const file = files.at(-1)
    if (word !== '') {
      const type = word === 'Add' ? 'create_file' : word === 'Update' ? 'update_file' : 'delete_file'
      files.push({ type, path: path.trim(), diff: [] })
    } else if (file === undefined) throw new PatchProblem(`the line \`${line.slice(0, 80)}\` belongs to no file`)
    else if (moveTo !== undefined) file.moveTo = moveTo.trim()
    else if (file.type === 'delete_file' && line.trim() !== '') {
      throw new PatchProblem(`a deleted file takes no lines, got \`${line.slice(0, 80)}\``)
    } else file.diff.push(line)
  }
  if (files.length === 0) throw new PatchProblem('the patch names no file')
  return files
}

/** The lines of a diff; an end at the end begins no further line. */
export function linesOfDiff(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
