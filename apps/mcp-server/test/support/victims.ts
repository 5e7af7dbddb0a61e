import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('victim.ts', import.meta.url))

export interface VictimOptions {
  readonly executor?: 'virtual' | 'bubblewrap'
  /** MiB of the heap. Default: that of Node. */
  readonly heap?: number
}

export interface Victim {
  readonly child: ChildProcess
  /** The directory that it serves. */
  readonly root: string
  /** Everything that it said on standard error. */
  readonly said: () => string
  readonly ended: Promise<unknown>
  /** Milliseconds of processor time that the longest turn of its event loop took since the last time. */
  readonly longestTurn: () => Promise<number>
}

async function start(way: 'http' | 'stdio', { executor = 'virtual', heap }: VictimOptions): Promise<Victim> {
  const scratch = await createScratchDirectory()
  const limits = heap === undefined ? [] : [`--max-old-space-size=${heap}`]
  const child = spawn(process.execPath, [
    ...limits,
    '--conditions=@ws/source',
    program,
    way,
    scratch.path,
    executor,
    ...(heap === undefined ? [] : ['measured']),
  ])
  const ended = once(child, 'close')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  // a server that has ended reads no more
  child.stdin.on('error', () => undefined)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    await scratch.remove()
  })
  const longestTurn = async (): Promise<number> => {
    const before = said.length
    child.kill('SIGUSR2')
    const found = () => /longest turn: ([\d.]+) ms/u.exec(said.slice(before))?.[1]
    await expect.poll(found, { timeout: 60_000 }).toBeDefined()
    return Number(found())
  }
  return { child, root: scratch.path, said: () => said, ended, longestTurn }
}

export async function startHttp(options: VictimOptions = {}) {
  const victim = await start('http', options)
  const [line] = (await once(createInterface(victim.child.stdout ?? process.stdin), 'line')) as [string]
  const url = new URL(line)
  const post = (body: string | Buffer, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
      ...(signal && { signal }),
    })
  return { ...victim, url, post }
}

export async function startStdio(options: VictimOptions = {}) {
  const victim = await start('stdio', options)
  const { child } = victim
  const answers = new Map<unknown, string>()
  const lines = createInterface(child.stdout ?? process.stdin).on('line', (line) => {
    answers.set((JSON.parse(line) as { readonly id?: unknown }).id, line)
  })
  const send = async (line: string | Buffer): Promise<void> => {
    if (child.stdin?.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')])) === false)
      await once(child.stdin, 'drain')
  }
  const clientInfo = { name: 'attack', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  await send(JSON.stringify({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params }))
  await expect.poll(() => answers.get('hello'), { timeout: 240_000 }).toContain('result')
  return { ...victim, send, answers, lines }
}

export const callOf = (id: unknown, name: string, given: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: given } })

/** Bytes in memory: now, and the most so far. */
export function memoryOf({ pid }: ChildProcess): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid ?? 0}/status`, 'utf8')
  const bytes = (field: string): number => Number(new RegExp(`${field}:\\s+(\\d+) kB`, 'u').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), most: bytes('VmHWM') }
}
