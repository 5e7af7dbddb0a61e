import { isWorkspaceError, paths, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { check, equal } from '../assert.ts'
import type { DoorCase, DoorSuite } from '../doors/suite.ts'
import type { SiteOptions } from '../doors/site.ts'
import { createOutside } from '../executor/outside.ts'
import { changeExecutor } from '../faults/executor-fault.ts'

/** Milliseconds from `spawn` to the exchange. -1: the exchange comes before `spawn`. */
const moments = [-1, 0, 1, 2, 4, 8, 16, 32]

export function exchangeTests({ describe, test }: DoorSuite): void {
  describe('a directory that is exchanged for a link while a command starts', () => {
    test('fileContent: shows nothing outside, where it is the mount', {
      kind: 'process',
      withstands: ['fileContent'],
    }, async (it) => {
      await attack(it, { place: '', options: {} })
    })

    test('fileContent: shows nothing outside, where it is a protected part', {
      kind: 'process',
      withstands: ['fileContent', 'subtrees'],
      symlinks: true,
    }, async (it) => {
      const files = { 'work/keep/a': '1' }
      await attack(it, { place: 'work/keep', options: { files, rules: (at) => [rules.readOnly(at('work/keep'))] } })
    })
  })
}

interface Attack {
  readonly place: string
  readonly options: SiteOptions
}

async function attack(it: DoorCase, { place, options }: Attack): Promise<void> {
  await using outside = await createOutside()
  let start = (spawn: () => Promise<unknown>): Promise<unknown> => spawn()
  const site = await it.open({
    ...options,
    executor: (inner) => startingWith(inner, (spawn) => start(spawn)),
  })
  const host = (await site.store.hostDirectory?.(paths.parseMount('/')))?.path
  if (host === undefined) return it.skip('capability hostPath: false')
  const directory = join(host, place)
  try {
    exchange(directory, outside.directory)()
  } catch {
    it.skip('the directory cannot be exchanged for a link') // reported as the reason of the skip
  }
  equal(await site.run('cat file.txt'), 'a file\n', 'what a command reads while nothing is exchanged')

  const at = site.at(place)
  for (const moment of moments) {
    let restore = (): void => undefined
    start = async (spawn) => {
      const change = (): void => void (restore = exchange(directory, outside.directory))
      if (moment < 0) change()
      const started = spawn()
      const later = moment === 0 ? change() : moment > 0 ? delay(moment).then(change) : undefined
      const [outcome] = await Promise.allSettled([started, later])
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    }
    try {
      const { stdout } = await site.attempt(`cat ${at}/secret.txt ${at}/*; echo evil > ${at}/evil`)
      check(!stdout.includes(outside.secret), `a command read a file outside, after an exchange at ${moment} ms`)
    } catch (error) {
      // A refusal is correct: the path no longer matches the plan.
      if (!isWorkspaceError(error)) throw error
    } finally {
      restore()
    }
    equal(await outside.names(), ['secret.txt'], `the names outside, after an exchange at ${moment} ms`)
  }
}

function exchange(directory: string, target: string): () => void {
  const aside = `${directory}.aside`
  renameSync(directory, aside)
  const back = (): void => renameSync(aside, directory)
  try {
    symlinkSync(target, directory)
  } catch (error) {
    back()
    throw error
  }
  return () => {
    unlinkSync(directory)
    back()
  }
}

function startingWith(inner: Executor, start: (spawn: () => Promise<unknown>) => Promise<unknown>): Executor {
  return changeExecutor(inner, {
    attached: ({ spawn }) => ({
      spawn: (request, plan) => start(() => spawn(request, plan)) as ReturnType<typeof spawn>,
    }),
  })
}
