import { existsSync, readFileSync } from 'node:fs'

import { perl, startPerlHelper, type PerlHelper } from '../run/perl-helper.ts'

/** Maximum number of watched trees of this process. Each uses one of the 128 inotify instances that a user has for all programs. */
const mostTrees = 32
/** The numbers of `inotify_init1` and `inotify_add_watch`. */
const numbers: Readonly<Record<string, readonly string[]>> = { x64: ['294', '254'], arm64: ['26', '27'] }

/** The helper process with all inotify watches of this process. Keeps this process alive only during a request. */
export interface Watcher {
  /** Sends a request. `undefined`: the helper has ended, and so have its watches. */
  ask(...words: readonly (string | number)[]): Promise<string | undefined>
}

let running: (Watcher & { readonly isGone: () => boolean }) | undefined

/** Returns `undefined` if no watcher can start. */
export function findWatcher(): Watcher | undefined {
  if (running === undefined || running.isGone()) running = start()
  return running
}

function start(): typeof running {
  const calls = numbers[process.arch]
  if (calls === undefined || !existsSync(perl)) return undefined
  const script = readFileSync(new URL('watcher.pl', import.meta.url), 'utf8')
  let helper: PerlHelper
  try {
    helper = startPerlHelper(script, calls)
  } catch {
    return undefined // no descriptors are left: without watches, walks take longer
  }
  const { child, hold, release } = helper
  const { stdin, stdout } = child
  const waiting: ((answer: string | undefined) => void)[] = []
  let isGone = false
  const trees = new Set<string | number>()
  let text = ''
  const end = () => {
    isGone = true
    for (const resolve of waiting.splice(0)) resolve(undefined)
  }
  child.on('error', end)
  child.on('close', end)
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) waiting.shift()?.(line)
    if (waiting.length === 0) release()
  })
  return {
    isGone: () => isGone,
    ask(...words) {
      const [what, tree = ''] = words
      if (isGone) return Promise.resolve(undefined)
      if (what === 'open' && trees.size >= mostTrees) return Promise.resolve('too many trees')
      if (what === 'open') trees.add(tree)
      if (what === 'close' && !trees.delete(tree)) return Promise.resolve('0')
      hold()
      return new Promise((resolve) => {
        waiting.push(resolve)
        stdin.write(`${words.join(' ')}\n`)
        if (trees.size > 0) return
        isGone = true // the next tree gets a new helper process
        stdin.end()
      })
    },
  }
}
