import { type Figures, type Measurement, type Way, summary } from '../measure.ts'

/**
 * Measures beside the time what a way costs this process: the processor time of all its threads, in microseconds for each
 * time that the work is done. Servers are processes of their own and do not count.
 */
export class ProcessorTime {
  readonly #times = new Map<string, number[]>()

  watch({ name, run, before }: Way): Way {
    const times: number[] = []
    this.#times.set(name, times)
    return {
      name,
      before,
      async run(count) {
        const start = process.cpuUsage()
        await run(count)
        const { user, system } = process.cpuUsage(start)
        times.push((user + system) / count)
      },
    }
  }

  measurement(section: string, name: string): Measurement {
    // without the first, which was for warming up
    const figures = [...this.#times].map(([way, times]): Figures => summary(way, times.slice(1)))
    return { section, name, against: 'µs', figures: figures.filter(({ samples }) => samples > 0) }
  }
}
