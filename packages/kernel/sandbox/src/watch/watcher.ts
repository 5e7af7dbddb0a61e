import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'

import { spawnChild } from '../run/spawn.ts'

const perl = '/usr/bin/perl'
/** Most trees of this process. Each takes one of the 128 inotify instances that a user has for all programs. */
const mostTrees = 32
/** The numbers of `inotify_init1` and `inotify_add_watch`. */
const numbers: Readonly<Record<string, readonly string[]>> = { x64: ['294', '254'], arm64: ['26', '27'] }

/** The process that holds all inotify watches of this process. Keeps an event loop alive only while an answer is due. */
export interface Watcher {
  /** `undefined`: the process has ended, and its watches with it. */
  ask(...words: readonly (string | number)[]): Promise<string | undefined>
}

let running: (Watcher & { readonly isGone: () => boolean }) | undefined

/** `undefined` if none can be started. */
export function findWatcher(): Watcher | undefined {
  if (running === undefined || running.isGone()) running = start()
  return running
}

function start(): typeof running {
  const calls = numbers[process.arch]
  if (calls === undefined || !existsSync(perl)) return undefined
  const script = readFileSync(new URL('watcher.pl', import.meta.url), 'utf8')
  let child: ChildProcessByStdio<Writable, Readable, null>
  try {
    child = spawnChild(perl, ['-e', script, ...calls], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
      cwd: '/',
      detached: true,
    })
  } catch {
    return undefined // too few descriptors: without watches, walks take longer
  }
  const { stdin, stdout } = child
  const parts = [child, stdin, stdout] as readonly Partial<Pick<ChildProcess, 'ref' | 'unref'>>[]
  const waiting: ((answer: string | undefined) => void)[] = []
  let isGone = false
  const trees = new Set<string | number>()
  let text = ''
  const end = () => {
    isGone = true
    for (const resolve of waiting.splice(0)) resolve(undefined)
  }
  const release = () => {
    if (waiting.length === 0) for (const part of parts) part.unref?.()
  }
  child.on('error', end)
  child.on('close', end)
  stdin.on('error', () => undefined) // its end is reported
  stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) waiting.shift()?.(line)
    release()
  })
  release()
  return {
    isGone: () => isGone,
    ask(...words) {
      const [what, tree = ''] = words
      if (isGone) return Promise.resolve(undefined)
      if (what === 'open' && trees.size >= mostTrees) return Promise.resolve('too many trees')
      if (what === 'open') trees.add(tree)
      if (what === 'close' && !trees.delete(tree)) return Promise.resolve('0')
      for (const part of parts) part.ref?.()
      return new Promise((resolve) => {
        waiting.push(resolve)
        stdin.write(`${words.join(' ')}\n`)
        if (trees.size > 0) return
        isGone = true // the next tree gets another process
        stdin.end()
      })
    },
  }
}
