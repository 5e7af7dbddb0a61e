import { PatchProblem } from './hunks.ts'
import { parseUnified } from './unified.ts'

export interface FilePatch {
  readonly type: 'create_file' | 'update_file' | 'delete_file'
  readonly path: string
  readonly diff: readonly string[]
  readonly moveTo?: string | undefined
}

/** The files of a `*** Begin Patch` text or a unified diff. Ignores a sentence, fence or here-document around it. @throws PatchProblem */
export function parsePatch(text: string): FilePatch[] {
  const lines = linesOfDiff(text)
  const begins = lines.flatMap((line, index) => (isMark(line, 'Begin Patch') ? [index] : []))
  const ends = lines.flatMap((line, index) => (isMark(line, 'End Patch') ? [index] : []))
  const [begin, other] = begins
  const end = ends.at(-1) ?? -1
  if (begin === undefined) {
    const files = end < 0 ? parseUnified(lines) : undefined
    if (files !== undefined) return files
    throw new PatchProblem('the first line must be `*** Begin Patch`')
  }
  if (end < begin) throw new PatchProblem('the last line must be `*** End Patch`')
  if (other !== undefined || ends.length > 1) throw new PatchProblem('it has more than one beginning or end')
  return parseEnvelope(lines.slice(begin + 1, end))
}

function isMark(line: string, word: string): boolean {
  return line.trim().replace(/\s*\*{3}$/u, '') === `*** ${word}`
}

function parseEnvelope(lines: readonly string[]): FilePatch[] {
  const files: (FilePatch & { diff: string[]; moveTo?: string })[] = []
  for (const line of lines) {
    const [, word = '', path = ''] = /^\*\*\* (Add|Update|Delete) File: (.+?)(?:\s\*{3})?\s*$/u.exec(line) ?? []
    const [, moveTo] = /^\*\*\* Move to: (.+?)(?:\s\*{3})?\s*$/u.exec(line) ?? []
    const file = files.at(-1)
    if (word !== '') {
      const type = word === 'Add' ? 'create_file' : word === 'Update' ? 'update_file' : 'delete_file'
      files.push({ type, path: path.trim(), diff: [] })
    } else if (file === undefined) {
      if (line.trim() !== '') throw new PatchProblem(`the line \`${line.slice(0, 80)}\` belongs to no file`)
    } else if (moveTo !== undefined) file.moveTo = moveTo.trim()
    else if (file.type === 'delete_file' && line.trim() !== '') {
      throw new PatchProblem(`a deleted file takes no lines, got \`${line.slice(0, 80)}\``)
    } else file.diff.push(line)
  }
  if (files.length === 0) throw new PatchProblem('the patch names no file')
  return files
}

export function linesOfDiff(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  if (lines.at(-1) === '') lines.pop()
  return lines
}
