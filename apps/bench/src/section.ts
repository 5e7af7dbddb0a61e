// One section in a process of its own, started by main.ts: what one loads or leaves behind must not touch the next.
import type { Measurement } from './measure.ts'

const sections: Readonly<Record<string, () => Promise<(report: (measurement: Measurement) => void) => Promise<void>>>> =
  {
    files: async () => (await import('./files.ts')).measureFiles,
    search: async () => (await import('./search.ts')).measureSearch,
    'path check': async () => (await import('./path-check.ts')).measurePathCheck,
    memory: async () => (await import('./memory.ts')).measureMemory,
    'event loop': async () => (await import('./loop-delay.ts')).measureLoopDelay,
  }

const name = process.argv[2] ?? ''
const load = sections[name]
if (load === undefined) throw new Error(`there is no section ${name}`)
const measure = await load()
await measure((measurement) => {
  if (process.send === undefined) console.dir(measurement, { depth: 4 })
  else process.send(measurement)
})
process.disconnect?.()
