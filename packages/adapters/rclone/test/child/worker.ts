// Mounts by the options on standard input, does the steps of a seed, and reports each on standard output.
import { writeSync } from 'node:fs'
import { text } from 'node:stream/consumers'

import { type RcloneAdapterOptions, createRcloneAdapter } from '../../src/index.ts'
import { stepsFrom, work } from './workload.ts'

interface Task {
  readonly options: RcloneAdapterOptions
  readonly seed: number
  readonly count: number
}

const { options, seed, count } = JSON.parse(await text(process.stdin)) as Task
const adapter = await createRcloneAdapter(options)
// at once: output in a buffer of a killed process is lost
const tell = (what: unknown): void => void writeSync(1, `${JSON.stringify(what)}\n`)
tell('mounted')
await work(adapter, stepsFrom(seed, count), tell)
tell('finished')
setInterval(() => undefined, 60_000)
