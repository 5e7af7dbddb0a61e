import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import type { Owner } from '@ws/test-fixtures'

import { keeperScript } from '../../../src/reserve/keeper-script.ts'
import { keeperSettings } from '../../../src/reserve/keeper.ts'

interface LoneKeeperOptions {
  /** Where it keeps its notes. */
  readonly state: string
  readonly root: string
  /** The user that it gives names to, where it runs as root. */
  readonly owner?: Owner | undefined
  /** The user that it runs as; this process's user by default. */
  readonly runAs?: Owner | undefined
}

/** A keeper without a process of Node around it, which could not become another user and back. */
export function startLoneKeeper({ state, root, owner, runAs }: LoneKeeperOptions) {
  const child = spawn('/usr/bin/perl', ['-e', keeperScript()], {
    ...(process.getuid?.() === 0 ? runAs : undefined),
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (...words: readonly (string | number)[]) => child.stdin.write(`${words.join(' ')}\n`)
  const read = async () => ((await lines.next()).value as string).replace(/^\w+ \S+ /, '')
  const hex = (text: string) => Buffer.from(text).toString('hex')
  send(keeperSettings(state))
  return {
    pid: child.pid ?? 0,
    /** The answer for each path: `placed IDENTITY`, or why not. Where there is a content, a file with it holds the name. */
    async place(paths: readonly string[], contents: readonly string[] = []): Promise<string[]> {
      const { uid, gid } = owner ?? { uid: -1, gid: -1 }
      for (const [id, path] of paths.entries()) {
        const content = contents[id]
        send('place', id, uid, gid, hex(root), hex(path), ...(content === undefined ? [] : [`=${hex(content)}`]))
      }
      const answers: string[] = []
      for (const _path of paths) answers.push(await read())
      return answers
    },
    /** Watches a process. The answer is read where it cannot be: `lost w`, or `ended w` where that has ended. */
    async watch(pid: number, startTime: string, points: readonly string[]): Promise<string> {
      send('watch', 'w', pid, startTime, -1, -1, 'end', '=', ...points.map((point) => `x:${hex(point)}`))
      return (await lines.next()).value as string
    },
    /** Lets go of what was placed last. */
    async drop(count: number): Promise<void> {
      for (let id = 0; id < count; id++) send('drop', id)
      for (let id = 0; id < count; id++) await read()
    },
    /** How many names of keepers that have ended it removed. */
    async sweep(): Promise<string> {
      send('sweep', 's')
      return await read()
    },
    async end(): Promise<void> {
      child.stdin.end()
      await ended
    },
  }
}
