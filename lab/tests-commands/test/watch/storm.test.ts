import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { WatchEvent, Workspace } from '@ws/core'
import type { AdapterOptions, StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, deep, describeWith, seededRandom } from '@ws/test-fixtures'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { Model, treeOf } from './model.ts'

type WatchOptions = NonNullable<Parameters<Workspace['watch']>[1]>

/** At `/`, a reader of the disk would also see the system's names, which exist there during commands. */
const mounted = '/workspace'

/** Changes of a storm, about half of them by commands. */
const changes = deep ? 100_000 : 4_000

async function open(root: string, change = (adapter: StorageAdapter): StorageAdapter => adapter): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: mounted, adapter: async () => change(await createLocalAdapter({ root })) }],
    executors: [createBubblewrapExecutor()],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

/** Makes, changes, moves and deletes few names, so that they often meet. */
function loop(seed: number, count: number): string {
  return `RANDOM=${seed}; for i in $(seq ${Math.ceil(count / 8)}); do
    d=d$((RANDOM % 5)) e=d$((RANDOM % 5))
    mkdir -p $d/$e; echo $i > $d/f$((RANDOM % 9)); echo $i >> $d/$e/g$((RANDOM % 9))
    mv $d/f$((RANDOM % 9)) $e 2>&-; rm -f $d/f$((RANDOM % 9)); chmod 6$((RANDOM % 5))0 $d/f* 2>&-
    ln -sfn f$((RANDOM % 9)) $e/link
    [ $((RANDOM % 20)) = 0 ] && rm -rf $d/$e; [ $((RANDOM % 20)) = 0 ] && mv $d/$e m$((RANDOM % 3)); [ $((RANDOM % 20)) = 0 ] && rm -rf m*; :
  done 2>&-`
}

async function calls(workspace: Workspace, seed: number, count: number): Promise<void> {
  const random = seededRandom(seed)
  const some = (most: number): number => Math.floor(random() * most)
  for (let index = 0; index < count; index++) {
    const [one, other] = [`d${some(5)}`, `d${some(5)}`]
    const acts = [
      () => workspace.write(`${one}/f${some(9)}`, `call ${index}`),
      () => workspace.append(`${one}/${other}/g${some(9)}`, 'more'),
      () => workspace.move(`${one}/f${some(9)}`, `${other}/f${some(9)}`, { overwrite: true }),
      () => workspace.delete(`${one}/f${some(9)}`, { force: true }),
      () => workspace.delete(`${one}/${other}`, { recursive: true, force: true }),
      () => workspace.copy(`${one}/f${some(9)}`, `${other}/c${some(3)}`, { overwrite: true }),
      () => workspace.chmod(`${one}/f${some(9)}`, 0o600 + some(64)),
    ]
    try {
      await acts[some(acts.length)]?.()
    } catch (error) {
      if (!isWorkspaceError(error)) throw error // others have changed the entry meanwhile
    }
  }
}

/** Hints that come late, twice, or are lost with notice. */
function odd(adapter: StorageAdapter): StorageAdapter {
  let asked = 0
  const { watch } = adapter
  const watched = async (...given: Parameters<NonNullable<typeof watch>>): Promise<AdapterOptions.Hints> => {
    const hints = await watch?.apply(adapter, given)
    let last: Awaited<ReturnType<AdapterOptions.Hints['take']>> = new Set()
    return {
      close: () => hints?.close(),
      async take() {
        asked += 1
        const taken = await hints?.take()
        const before = last
        last = taken
        return asked % 7 === 0 ? undefined : before && taken && new Set([...taken, ...before])
      },
    }
  }
  return Object.assign(adapter, { watch: watched })
}

describeWith(
  [component('bubblewrap'), component('perl')],
  '[EF4] a watch beside changes by both doors',
  { tags: ['all', 'rounds'] },
  () => {
    it.each<[string, WatchOptions, ((adapter: StorageAdapter) => StorageAdapter)?]>([
      ['a quick reader', { interval: 20 }],
      ['a slow reader, whose events overflow', { interval: 20, maxPending: 50 }],
      ['a store with odd hints', { interval: 20 }, odd],
    ])('misses nothing: %s', { timeout: 1_200_000 }, async (_, options, change) => {
      const scratch = await createScratchDirectory()
      onTestFinished(() => scratch.remove())
      const [one, other] = [await open(scratch.path, change), await open(scratch.path)]
      await one.exec('true')
      const model = new Model(scratch.path)
      const watch = await one.watch(mounted, options)
      let heard = 0
      const reading = (async () => {
        for await (const event of watch) {
          model.hear({ ...event, path: (event.path.slice(mounted.length) || '/') as WatchEvent['path'] })
          heard += 1
          if (options.maxPending !== undefined && heard % 20 === 0) await pause(200)
        }
      })()
      const part = changes / 4
      await Promise.all([
        one.exec(loop(1, part)),
        other.exec(loop(2, part)),
        calls(one, 3, part),
        calls(other, 4, part),
      ])
      await one.exec('true')
      await one.close() // the waiting events can still be read
      await reading
      model.settle()
      expect(model.known).toEqual(treeOf(scratch.path))
      expect(model.counts.overflow > 0).toBe(options.maxPending !== undefined)
    })
  },
)
