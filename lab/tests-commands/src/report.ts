import Table from 'cli-table3'

import type { ControlReport } from './controls.ts'
import { countNames, type Counts, leaksIn, sumCounts } from './counts.ts'
import type { RaceReport } from './race.ts'
import type { SharedReport } from './shared/run.ts'
import type { StartsReport } from './starts.ts'

const figure = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 1 })

function table(head: readonly string[]): InstanceType<typeof Table> {
  return new Table({
    head: [...head],
    colAligns: head.map((_, index) => (index === 0 ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  })
}

function rowOf(name: string, counts: Counts): string[] {
  return [name, ...countNames.map((one) => figure(one === 'milliseconds' ? counts[one] / 1_000 : counts[one]))]
}

export function describeRace({ race, counts, exchanges, duration, findings }: RaceReport): string {
  const columns = countNames.map((name) => (name === 'milliseconds' ? 'seconds' : name))
  const shown = table([race, ...columns])
  for (const [name, one] of counts) if (one.operations > 0 || leaksIn(one) > 0) shown.push(rowOf(name, one))
  shown.push(rowOf('total', sumCounts(counts.values())))
  const summary = `${figure(exchanges)} changes by the other process in ${(duration / 1_000).toFixed(1)} s`
  return [shown.toString(), summary, ...findings.map((finding) => `! ${finding}`)].join('\n')
}

export function describeControls(race: string, controls: readonly ControlReport[]): string {
  const shown = table([`controls: ${race}`, 'operations', 'leaked'])
  for (const { name, operations, leaked } of controls) shown.push([name, figure(operations), figure(leaked)])
  return shown.toString()
}

export function describeStarts(executor: string, report: StartsReport): string {
  const { started, refused, cheated, untyped, exchanges, findings } = report
  const shown = table([`commands in ${executor}`, 'started', 'refused', 'cheated', 'untyped', 'exchanges'])
  shown.push(['exchange of bind sources', ...[started, refused, cheated, untyped, exchanges].map(figure)])
  return [shown.toString(), ...findings.map((finding) => `! ${finding}`)].join('\n')
}

export function describeShared({ scene, commands, refused, exchanges, changes, untyped }: SharedReport): string {
  const shown = table(['workspaces on one directory', 'commands', 'refused', 'exchanges', 'changes', 'untyped'])
  const name = `${scene.host}, ${scene.processes}, ${scene.states}`
  shown.push([name, ...[commands, refused, exchanges, changes, untyped.length].map(figure)])
  return [shown.toString(), ...untyped.slice(0, 3).map((finding) => `! ${finding}`)].join('\n')
}
