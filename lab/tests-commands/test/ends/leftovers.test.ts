import { component, describeWith, deep } from '@ws/test-fixtures'
import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'

import { forms, openSite, treeOf } from '../doors/site.ts'
import { traces } from './traces.ts'

const commands = deep ? 80 : 24
const abreast = 4

/** Each of the ways in which a command ends. */
const endings: readonly { readonly command: string; readonly timeout?: number; readonly stdin?: string }[] = [
  { command: 'true' },
  { command: 'exit 3' },
  { command: 'sleep 1000', timeout: 30 },
  { command: 'kill -9 $$' },
  { command: 'cat > /dev/null; echo done', stdin: 'x'.repeat(300_000) },
  { command: 'sleep 1000 & setsid sleep 1000 & echo left' },
  { command: 'no-such-program' },
  { command: 'exec 1>&- 2>&- 0<&-; exit 0' },
]

for (const door of forms) {
  describeWith(
    door.components.map(component),
    `after ${commands} commands: ${door.name}`,
    { tags: [...door.tags] },
    () => {
      it('[LS13, RP18] no process, descriptor, temporary directory or listener is left', {
        tags: 'rounds',
      }, async () => {
        // Helpers that executors share outlast the last one for a moment.
        await expect.poll(() => traces('').children).toEqual([])
        const controller = new AbortController()
        let scratch = ''
        const own = '/nowhere'
        const run = async (site: Awaited<ReturnType<typeof openSite>>, index: number) => {
          const { command, timeout: limit, stdin } = endings[index % endings.length] ?? { command: 'true' }
          const options = { login: false, shell: 'sh', killGrace: 50, timeout: limit ?? 60_000, stdin } as const
          const aborted = index % 9 === 8
          const stop = new AbortController()
          const signal = aborted ? AbortSignal.any([controller.signal, stop.signal]) : controller.signal
          const result = site.workspace.exec(aborted ? 'sleep 1000' : command, { ...options, signal })
          if (aborted) setTimeout(() => stop.abort(new Error('enough')), 20)
          await (aborted ? expect(result).rejects.toThrow('enough') : result)
        }
        // The workspaces of a process share what the first commands make: it is there before and after.
        await using first = await openSite({ root: door.root, executor: door.create() })
        const start = performance.now()
        for (let index = 0; index < 9; index++) await run(first, index)
        // what is made ready beside commands takes no longer than they do
        const patience = performance.now() - start
        const before = await quiet(() => traces(own), patience)
        {
          await using site = await openSite({ root: door.root, executor: door.create() })
          scratch = site.directory
          // Sandboxes are kept ready from the second command on.
          for (let index = 0; index < 3; index++) await run(site, 0)
          const between = await quiet(() => traces(own), patience)
          for (let index = 0; index < commands; index += abreast)
            await Promise.all(Array.from({ length: abreast }, (_, lane) => run(site, index + lane)))
          expect(await settled(() => traces(own), between)).toEqual(between)
          expect(await treeOf(scratch)).toEqual(['file.txt'])
        }
        expect(await settled(() => traces(own), before)).toEqual(before)
        expect(getEventListeners(controller.signal, 'abort')).toEqual([])
      })
    },
  )
}

/** Waits for a value that stays the same. @param duration in milliseconds */
async function quiet<T>(look: () => T, duration: number): Promise<T> {
  let seen = look()
  for (let since = performance.now(); performance.now() - since < duration; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const now = look()
    if (JSON.stringify(now) !== JSON.stringify(seen)) since = performance.now()
    seen = now
  }
  return seen
}

/** The event loop closes pipes, and reaps children and threads, in its own time: on a machine with other work it takes seconds. */
async function settled<T>(look: () => T, wanted: T): Promise<T> {
  const deadline = performance.now() + 15_000
  let seen = look()
  while (JSON.stringify(seen) !== JSON.stringify(wanted) && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    seen = look()
  }
  return seen
}
