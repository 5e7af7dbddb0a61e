import Table from 'cli-table3'
import { stripVTControlCharacters } from 'node:util'

import { wrapWords } from './wrap.ts'

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
  /** Indexes of right-aligned columns. */
  readonly right?: readonly number[]
  readonly widths?: readonly (number | null)[]
}

/** Renders aligned columns without borders. Cells may contain colours. A wide character counts by its displayed width. */
export function renderTable(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  if (rows.length === 0 && options.head === undefined) return ''
  const { widths = [] } = options
  const columns = Math.max(options.head?.length ?? 0, ...rows.map((row) => row.length))
  const cells = rows.map((row) => row.map((text, index) => wrapped(text, widths[index])))
  const colWidths = widths.map((width, index) =>
    width === null ? null : Math.max(width, ...cells.map((row) => widthOf(row[index] ?? ''))),
  )
  const table = new Table({
    chars: plain,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: Array.from({ length: columns }, (_, index) => (options.right?.includes(index) ? 'right' : 'left')),
    ...(options.head === undefined ? {} : { head: [...options.head] }),
    ...(options.widths === undefined ? {} : { colWidths }),
  })
  table.push(...cells)
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** Wraps a cell's text at words: the table library would cut words that are longer than their column. */
const wrapped = (text: string, width: number | null | undefined) =>
  width
    ? text
        .split('\n')
        .map((line) => wrapWords(line, width))
        .join('\n')
    : text

const widthOf = (cell: string) =>
  Math.max(
    ...stripVTControlCharacters(cell)
      .split('\n')
      .map((line) => line.length),
  )
