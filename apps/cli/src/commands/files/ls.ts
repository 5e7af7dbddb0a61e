import { paths, type Workspace, type WorkspaceEntry } from '@ws/core'

import { renderTable } from '../../terminal/table.ts'
import type { FileContext } from './add.ts'

export interface LsFlags {
  readonly long?: true
  readonly recursive?: true
  readonly null?: true
}

type Row = Pick<WorkspaceEntry, 'path' | 'name' | 'type' | 'size' | 'modifiedAt' | 'mode' | 'version' | 'mount'> & {
  target?: string | undefined
}

export async function ls(context: FileContext, path: string | undefined, flags: LsFlags): Promise<void> {
  const rows = await collectRows(context, path, flags)
  const { output } = context
  const shown = (row: Row) => (flags.recursive ? row.path : row.name)
  if (output.json) for (const row of rows) await output.value(row)
  else if (flags.null) for (const row of rows) await output.content([Buffer.from(`${shown(row)}\0`)])
  else if (flags.long && rows.length > 0) await output.line(table(context, rows, shown))
  else if (!flags.long) for (const row of rows) await output.line(output.name(shown(row)))
}

async function collectRows(
  { signal, output, workspace }: FileContext,
  path: string | undefined,
  { long, recursive }: LsFlags,
): Promise<Row[]> {
  const rows: Row[] = []
  const details = long === true || output.json
  const single = path === undefined ? undefined : await statFile(workspace, path, signal)
  if (single !== undefined) rows.push(single)
  else for await (const entry of workspace.list(path, { recursive, details, signal })) rows.push(entry)
  rows.sort((a, b) => (a.path < b.path ? -1 : 1))
  if (!details) return rows
  for (const row of rows) {
    // a link that is missing or denied is listed without target
    if (row.type === 'symlink') row.target = await workspace.readSymlink(row.path, { signal }).catch(() => undefined)
  }
  return rows
}

/** A row for a file; `undefined` for a directory or link, which the caller lists instead. */
async function statFile(workspace: Workspace, path: string, signal: AbortSignal): Promise<Row | undefined> {
  const stat = await workspace.stat(path, { signal })
  if (stat.type === 'directory' || stat.type === 'symlink') return undefined
  const { resolvedPath } = await workspace.explain({ operation: 'stat', path })
  return { ...stat, path: paths.parseVirtual(resolvedPath), name: paths.baseName(resolvedPath) }
}

function table({ output }: FileContext, rows: readonly Row[], shown: (row: Row) => string): string {
  const cells = rows.map((row) => [
    `${letters[row.type]}${row.mode === undefined ? '' : permissions(row.mode)}`,
    row.type === 'file' ? String(row.size ?? '') : '-',
    row.modifiedAt === undefined ? '' : new Date(row.modifiedAt).toISOString().slice(0, 19).replace('T', ' '),
    output.name(shown(row)) + (row.target === undefined ? '' : ` -> ${output.name(row.target)}`),
  ])
  return renderTable(cells, { right: [1] })
}

const letters: Record<Row['type'], string> = { file: '-', directory: 'd', symlink: 'l', other: '?' }

const permissions = (mode: number): string =>
  [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('')
