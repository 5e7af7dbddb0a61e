import { showName } from '@ws/core/executor'

const largest = 4 * 1024 * 1024

/** A line about a data file: rows and columns, or keys [FS6]. `undefined` for other files. */
export function summarize(path: string, content: string): string | undefined {
  if (content.length > largest) return undefined
  const extension = /\.([a-z0-9]+)$/iu.exec(path)?.[1]?.toLowerCase()
  switch (extension) {
    case 'csv':
      return table(content, ',')
    case 'tsv':
      return table(content, '\t')
    case 'jsonl':
    case 'ndjson':
      return jsonLines(content)
    case 'json':
      return json(content)
    default:
      return undefined
  }
}

function table(content: string, separator: string): string {
  const [header = [], ...rows] = parseRows(content, separator)
  return `Data: ${amount(rows.length, 'row')}, ${amount(header.length, 'column')}: ${names(header)}.`
}

function parseRows(content: string, separator: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let index = 0; index < content.length; index += 1) {
    const character = content[index]
    if (quoted) {
      if (character !== '"') cell += character
      else if (content[index + 1] === '"') {
        cell += '"'
        index += 1
      } else quoted = false
    } else if (character === '"' && cell === '') quoted = true
    else if (character === separator) {
      row.push(cell)
      cell = ''
    } else if (character === '\n') {
      rows.push([...row, cell.replace(/\r$/u, '')])
      row = []
      cell = ''
    } else cell += character
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell])
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '')
}

function jsonLines(content: string): string {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const bad = lines.findIndex((line) => parse(line) === undefined)
  if (bad >= 0) return `Data: row ${bad + 1} is not valid JSON.`
  const first = parse(lines[0] ?? 'null')
  const keys = isObject(first) ? Object.keys(first) : []
  return `Data: ${amount(lines.length, 'row')}${keys.length === 0 ? '' : `, keys: ${names(keys)}`}.`
}

function json(content: string): string {
  const value = parse(content)
  if (value === undefined) return 'Data: the content is not valid JSON.'
  if (Array.isArray(value)) {
    const keys = isObject(value[0]) ? Object.keys(value[0]) : []
    return `Data: a list of ${amount(value.length, 'row')}${keys.length === 0 ? '' : `, keys: ${names(keys)}`}.`
  }
  if (isObject(value))
    return `Data: an object with ${amount(Object.keys(value).length, 'key')}: ${names(Object.keys(value))}.`
  return `Data: one ${value === null ? 'null' : typeof value}.`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function names(all: readonly string[]): string {
  const shown = all.slice(0, 20).map((name) => showName(name.slice(0, 60).trim()))
  return all.length > 20 ? `${shown.join(', ')}, …` : shown.join(', ')
}

function amount(value: number, word: string): string {
  return `${value} ${word}${value === 1 ? '' : 's'}`
}
