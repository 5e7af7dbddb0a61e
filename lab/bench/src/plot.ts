export interface Plot {
  readonly title: string
  readonly axis: string
  /** The value with a line through all bars, and its name. */
  readonly mark: readonly [value: number, name: string]
  readonly bars: readonly (readonly [label: string, value: number, least: number, most: number])[]
}

const colors = {
  light: { ground: '#ffffff', grid: '#d8dee4', text: '#1b1f24', dim: '#57606a', below: '#3451b2', above: '#bc4c00' },
  dark: { ground: '#1b1b1f', grid: '#3c3f44', text: '#f0f0f3', dim: '#a0a3ab', below: '#a8b1ff', above: '#ffa657' },
} as const

const [width, left, right, top, row] = [760, 310, 660, 64, 26] as const

/** Draws bars with their spread as an SVG. Bars beyond the mark have another color; spreads end at the axis' end. */
export function draw({ title, axis, mark: [mark, markName], bars }: Plot, theme: keyof typeof colors): string {
  const { ground, grid, text, dim, below, above }: Readonly<Record<string, string>> = colors[theme]
  const end = Math.ceil(Math.max(mark, ...bars.map(([, value]) => value)) * 2) / 2 + 0.25
  const bottom = top + bars.length * row + 6
  const x = (value: number) => Math.round(left + (Math.max(0, Math.min(value, end)) / end) * (right - left))
  const write = (at: number, y: number, content: string, { anchor = 'middle', size = 13, color = dim } = {}) =>
    `<text x="${at}" y="${y}" font-size="${size}" fill="${color}" text-anchor="${anchor}">${escape(content)}</text>`
  const line = (x1: number, y1: number, x2: number, y2: number, color: string, thick = 1) =>
    `<path d="M${x1} ${y1}L${x2} ${y2}" stroke="${color}" stroke-width="${thick}"/>`
  const ticks = Array.from({ length: Math.floor(end * 2) + 1 }, (_, index) => index / 2)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 48}" width="${width}" height="${bottom + 48}" font-family="system-ui, sans-serif" role="img" aria-label="${escape(title)}">`,
    `<rect width="${width}" height="${bottom + 48}" rx="12" fill="${ground}"/>`,
    write(width / 2, 28, title, { size: 16, color: text }),
    ...ticks.flatMap((tick) => [line(x(tick), top, x(tick), bottom, grid), write(x(tick), bottom + 17, String(tick))]),
    ...bars.flatMap(([label, value, least, most], index) => {
      const y = top + index * row + 13
      const color = value > mark ? above : below
      return [
        write(left - 10, y + 4, label, { anchor: 'end', color: text }),
        `<rect x="${left}" y="${y - 7}" width="${x(value) - left}" height="14" rx="2" fill="${color}"/>`,
        line(x(least), y, x(most), y, dim, 2),
        write(right + 12, y + 4, value.toFixed(2), { anchor: 'start', color: text }),
      ]
    }),
    line(x(mark), top - 6, x(mark), bottom, dim, 2),
    write(x(mark), top - 11, markName),
    write((left + right) / 2, bottom + 38, axis),
    '</svg>\n',
  ].join('\n')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
