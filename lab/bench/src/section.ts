// One section in its own process: the code that it loads must not touch the next.
import { sections } from './sections.ts'

const name = process.argv[2] ?? ''
const load = sections[name]
if (load === undefined) throw new Error(`there is no section \`${name}\`: use ${Object.keys(sections).join(', ')}`)
const measure = await load()
const sent: Promise<void>[] = []
await measure((measurement) => {
  if (process.send === undefined) console.dir(measurement, { depth: 4 })
  else sent.push(new Promise((resolve) => process.send?.(measurement, () => resolve())))
})
await Promise.all(sent)
// Some sections keep timers and servers: do not wait for them.
process.exit()
