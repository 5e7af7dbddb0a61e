import Table from 'cli-table3'

const plain = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

export interface TableOptions {
  readonly head?: readonly string[]
  /** Columns that hold numbers. */
  readonly right?: readonly number[]
  /** Characters of each column; absent: as wide as the widest cell. Longer words are broken. */
  readonly widths?: readonly (number | null)[]
}

/** Aligned columns without lines around them. Cells may hold colours; wide characters are counted as they are shown. */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  if (rows.length === 0 && options.head === undefined) return ''
  const columns = Math.max(options.head?.length ?? 0, ...rows.map((row) => row.length))
  const table = new Table({
    chars: plain,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: Array.from({ length: columns }, (_, index) => (options.right?.includes(index) ? 'right' : 'left')),
    ...(options.head === undefined ? {} : { head: [...options.head] }),
    ...(options.widths === undefined ? {} : { colWidths: [...options.widths], wordWrap: true }),
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
