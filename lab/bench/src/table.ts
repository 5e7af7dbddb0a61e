import Table from 'cli-table3'

import { type Figures, type Measurement, own } from './measure.ts'

/** Renders one line for each measurement: this project's figure with its target, and the figures of other ways. */
export function table(measurements: readonly Measurement[]): string {
  const lines = new Table({
    head: ['measured', 'against', 'target', own, '', 'others'],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'right', 'right', 'left', 'left'],
  })
  for (const { name, against, target, figures } of measurements) {
    const ours = figures.find(({ way }) => way === own)
    const rest = figures.filter(({ way }) => way !== own && way !== against)
    lines.push([
      name,
      against,
      target === undefined ? '' : `≤ ${target}`,
      ours === undefined ? '' : show(ours),
      target === undefined || ours === undefined ? '' : meets(ours, target) ? 'ok' : 'missed',
      rest.map((one) => `${one.way} ${show(one)}`).join('\n'),
    ])
  }
  return lines.toString()
}

function meets({ median, failure }: Figures, target: number): boolean {
  return failure === undefined && median <= target
}

function show({ median, min, max, failure }: Figures): string {
  if (failure !== undefined) return `– (${failure.slice(0, 60)})`
  return min === max ? short(median) : `${short(median)} (${short(min)}–${short(max)})`
}

/** Formats a figure. A failed measurement is not a number, and arrives from its section's process as `null`. */
function short(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–'
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
