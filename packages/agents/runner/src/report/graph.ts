import { escapeHtml } from './escape.ts'

interface Node {
  readonly id: string
  readonly needs: readonly string[]
}

const width = 150
const height = 28
const gapX = 50
const gapY = 12
const mostNodes = 300

export function renderGraph(steps: readonly Node[], states: ReadonlyMap<string, string>): string {
  if (steps.length > mostNodes) return `<p>${steps.length} steps: too many for a drawing</p>`
  const columns = columnsOf(steps)
  const rows: number[] = []
  const places = new Map<string, { readonly x: number; readonly y: number }>()
  for (const { id } of steps) {
    const column = columns.get(id) ?? 0
    const row = rows[column] ?? 0
    rows[column] = row + 1
    places.set(id, { x: column * (width + gapX), y: row * (height + gapY) })
  }
  const lines = steps.flatMap(({ id, needs }) =>
    needs.flatMap((need) => {
      const [from, to] = [places.get(need), places.get(id)]
      if (from === undefined || to === undefined) return []
      return `<path d="M${from.x + width} ${from.y + height / 2} L${to.x} ${to.y + height / 2}"/>`
    }),
  )
  const boxes = steps.map(({ id }) => {
    const { x, y } = places.get(id) ?? { x: 0, y: 0 }
    const shown = id.length > 20 ? `${id.slice(0, 19)}…` : id
    const label = `<text x="${x + 8}" y="${y + 18}">${escapeHtml(shown)}</text>`
    return `<g class="${escapeHtml(states.get(id) ?? 'none')}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>${label}</g>`
  })
  const size = `${rows.length * (width + gapX)} ${Math.max(...rows, 1) * (height + gapY)}`
  return `<svg viewBox="-1 -1 ${size}" role="img" aria-label="the steps and their needs">${lines.join('')}${boxes.join('')}</svg>`
}

function columnsOf(steps: readonly Node[]): Map<string, number> {
  const columns = new Map<string, number>()
  // In a checked plan each pass places at least one more step.
  for (let pass = 0; pass < steps.length && columns.size < steps.length; pass += 1) {
    for (const { id, needs } of steps) {
      if (columns.has(id) || needs.some((need) => !columns.has(need))) continue
      columns.set(id, Math.max(-1, ...needs.map((need) => columns.get(need) ?? 0)) + 1)
    }
  }
  return columns
}
