import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'

import { component, describeWith, until } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createProject, startWs, ws } from './ws.ts'

interface Seen {
  readonly pid: number
  readonly parent: number
  readonly startTime: string
}

function look(pid: number): Seen | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : { pid, parent: Number(fields[1]), startTime: fields[19] ?? '' }
  } catch {
    return undefined // the process has ended
  }
}

/** All processes below one, which the kernel gives another parent when it ends. */
function descendantsOf(pid: number): readonly Seen[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/u.test(name) ? (look(Number(name)) ?? []) : []))
  const children = (of: number): readonly Seen[] =>
    all.filter(({ parent }) => parent === of).flatMap((one) => [one, ...children(one.pid)])
  return children(pid)
}

function ask(url: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const request = get(url, { agent: false }, (response) => {
    let body = ''
    response.on('data', (chunk: Buffer) => (body += String(chunk)))
    response.on('end', () => resolve(body))
  })
  request.on('error', reject)
  return promise
}

/** Publishes a server of files, and waits for its address. */
async function publishFiles(root: string) {
  const server = ['python3', '-m', 'http.server', '--bind', '127.0.0.1', '8000']
  const child = startWs(['--root', root, 'publish', '8000', '--', ...server])
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  for await (const chunk of child.stderr ?? []) {
    said += String(chunk)
    if (said.includes('http://')) break
  }
  return { child, said }
}

describeWith([component('bubblewrap'), component('perl'), component('python3')], '`ws publish`', () => {
  it('[SV1] prints the address of a server, which ends with the command', async () => {
    await using project = await createProject({ 'index.html': 'hello from the workspace\n' })
    const { child, said } = await publishFiles(project.path)
    const [, url = ''] = /^ws: port 8000 of the workspace is (http:\/\/127\.0\.0\.1:\d+)$/mu.exec(said) ?? []
    expect(await ask(url)).toBe('hello from the workspace\n')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGINT')
    await ended
    await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('[SV1] leaves nothing when it is killed: no server, no holder, no helper, no address', async () => {
    await using project = await createProject({ 'index.html': 'hello\n' })
    const { child, said } = await publishFiles(project.path)
    const [url = ''] = /http:\S+/u.exec(said) ?? []
    await ask(url).catch(() => undefined) // starts the helper that connects
    const below = descendantsOf(child.pid ?? 0)
    expect(below.length).toBeGreaterThanOrEqual(4)
    child.kill('SIGKILL')
    await until(() => below.every((one) => look(one.pid)?.startTime !== one.startTime))
    await expect(ask(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it.each([
    ['echo no server; exit 3', 3],
    ['echo no server', 1],
  ])('[SV1] says it where the command ends without a server: %s', async (command, code) => {
    await using project = await createProject({})
    const ended = await ws(['--root', project.path, 'publish', '8000', '--', command])
    const stderr = 'ws: the command ended, and nothing listens on port 8000\n'
    expect(ended).toMatchObject({ code, stdout: 'no server\n', stderr })
  })
})

describe('bad input of `ws publish`', () => {
  it.each([
    [['publish', '80', '--', 'true'], /Give a port from 1024 to 65535/u],
    [['publish', 'http', '--', 'true'], /Give a port from 1024 to 65535/u],
    [['publish', '8000'], /missing required argument 'command'/u],
    [['publish', '8000', '--host-port', '0', '--', 'true'], /Give a port from 1024 to 65535/u],
  ])('is one line: %j', async (args, message) => {
    await using project = await createProject({})
    const { code, stderr } = await ws(['--root', project.path, ...args])
    expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 2, lines: 1 })
    expect(stderr).toMatch(message)
  })
})
