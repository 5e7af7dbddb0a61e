// Runs one section in its own process: its loaded code must not affect the next section.
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
// Some sections keep timers and servers, so this process does not wait for them.
process.exit()
