import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release } from 'node:os'
import { join } from 'node:path'

import { type Figures, type Measurement, own } from './measure.ts'
import { draw, type Plot } from './plot.ts'

export const pageSections: readonly string[] = ['files', 'search', 'commands', 's3', 'growth']

const docs = join(import.meta.dirname, '../../../docs')
/** Rows of other forms and sizes, which have a page of their own. */
const leftOut = /cold|proot|virtual|names kept|after the other/u

export function writePages(measurements: readonly Measurement[]): void {
  const rows = measurements.flatMap(({ section, name, against, figures }) => {
    const [ours, plain] = [own, against].map((way) => figures.find((one) => one.way === way))
    if (ours === undefined || ours.failure !== undefined || leftOut.test(name)) return []
    // on a busy machine, only the shortest runs measure the work
    const value = plain === undefined ? ours.median : (ours.shortest ?? Number.NaN) / (plain.shortest ?? Number.NaN)
    const bar = [name.replace(/ \(.*|;.*/u, ''), value, ours.min, ours.max] as const
    return [{ section, name, against, ours, plain, bar }]
  })
  const costs = rows.filter(({ plain }) => plain !== undefined)
  const growth = rows.filter(({ section }) => section === 'growth')
  save('speed', {
    title: 'Time of a call through the whole workspace',
    axis: 'times the plain call of the same work; the line over a bar is the spread',
    mark: [1, 'the plain call'],
    bars: costs.map(({ bar }) => bar),
  })
  save('growth', {
    title: 'Growth from 1,000 to 100,000 files',
    axis: 'exponent of the processor time: 0 does not grow, 1 grows with the number of files',
    mark: [1, 'linear'],
    bars: growth.map(({ bar }) => bar),
  })
  const date = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  const text = `# Speed

\`npm run bench -- pages\` measures this page and writes it. Each figure of the first table is a ratio of times: 1.00 is as fast as the plain
call. The shortest runs of both count, because other work on the machine only makes runs longer. In brackets are the smallest and the
largest ratio of a single round. Calls pass through the whole workspace, with five rules and an audit listener.

**On ${date}**: Node.js ${process.versions.node}, Linux ${release()}, ${availableParallelism()} processors (${cpus()[0]?.model}). The load of the last 1, 5 and 15 minutes was ${loadavg().map(Math.round).join(', ')}.

## Against the plain call

${picture('speed', 'Ratios of times, as in the table below')}

| work | plain call | plain call, ms | @ws, ms | ratio | rounds |
| --- | --- | ---: | ---: | ---: | ---: |
${costs.map(({ name, against, ours, plain, bar }) => `| ${name} | ${against} | ${millis(plain)} | ${millis(ours)} | ${spread(bar)} | ${ours.samples} |`).join('\n')}

- A process has to be started for ripgrep and for a plain spawn. That is part of their time and of ours.
- The plain write is not atomic, and a plain read of an object checks no checksum. Ours do.
- The simulator of R2 takes most of the time of the rows for objects.

## Growth

The exponent says how processor time grows from 1,000 to 100,000 files. In brackets are both steps of a factor of ten. The time of
ripgrep and of the command itself is not in it.

${picture('growth', 'Exponents, as in the table below')}

| work | 100,000 files, ms | exponent |
| --- | ---: | ---: |
${growth.map(({ name, ours, bar }) => `| ${name} | ${millis(ours)} | ${spread(bar)} |`).join('\n')}

[Another page](cost-of-commands.md) says how long programs take in each executor.
`
  writeFileSync(join(docs, 'speed.md'), text)
}

function save(name: string, plot: Plot): void {
  writeFileSync(join(docs, `pictures/${name}.svg`), draw(plot, 'light'))
  writeFileSync(join(docs, `pictures/${name}-dark.svg`), draw(plot, 'dark'))
}

function picture(name: string, alt: string): string {
  return `<picture>
  <source media="(prefers-color-scheme: dark)" srcset="pictures/${name}-dark.svg">
  <img alt="${alt}" src="pictures/${name}.svg">
</picture>`
}

function spread([, value, least, most]: Plot['bars'][number]): string {
  return `${value.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`
}

function millis({ microseconds = Number.NaN, shortest = microseconds }: Partial<Figures> = {}): string {
  return String(Number((shortest / 1_000).toPrecision(3)))
}
