import { createLocalAdapter } from '@ws/adapter-local'
import { type CommandResult, createWorkspace, isWorkspaceError, rules, type Workspace } from '@ws/core'
import { type Guarantees, getCommandResult } from '@ws/core/executor'
import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { asOwner, processesWith } from '@ws/test-fixtures'

import { attempts } from './attempts.ts'
import type { Column } from './columns.ts'
import { createOutside, type Outside } from './outside.ts'

const run = promisify(execFile)
const programs = join(import.meta.dirname, 'programs')

export interface ColumnReport {
  readonly name: string
  readonly guarantees: Guarantees
  readonly reached: ReadonlySet<string>
  /** Programs that did not finish. Their remaining attempts are not shown. */
  readonly unfinished: readonly string[]
  /** Fields in which this machine declares another level than the column. The run proves nothing about them. */
  readonly differs: readonly string[]
}

export interface EscapesOptions {
  /** Milliseconds for each race. Default 700. */
  readonly raceTime?: number | undefined
}

/** Landlock's ABI from which signals and abstract sockets are confined too. The table describes this ABI. */
const scoping = 6

export async function runEscapes(column: Column, { raceTime = 700 }: EscapesOptions = {}): Promise<ColumnReport> {
  await using outside = await createOutside()
  const directory = outside.workspace
  await prepare(outside)
  const stock = join(outside.scratch, 'stock')
  const at = (path: string) => (column.root === '/' ? `/${path}` : `/workspace/${path}`)
  const { owner, token } = outside
  const executor = column.create()
  process.env['WS_ESCAPE_SECRET'] = token
  try {
    await using workspace = await createWorkspace({
      mounts: [
        { at: column.root, adapter: () => createLocalAdapter({ root: directory, owner }) },
        { at: at('stock'), adapter: () => createLocalAdapter({ root: stock, owner }), access: 'read-only' },
      ],
      rules: [rules.readOnly(at('kept/part'), { name: 'kept' }), rules.deny(at('closed/part'), { name: 'closed' })],
      executors: [executor],
    })
    const guarantees = workspace.executor?.guarantees
    if (guarantees === undefined) throw new Error('there is no executor')
    const execute = acknowledging(workspace)
    const reached = new Set<string>()
    const unfinished: string[] = []
    for (const { name, command, readBack, field } of attempts) {
      if (command === undefined) continue
      await renew(outside, directory, stock)
      const { stdout } = await execute(command({ secret: outside.secret, at }))
      const text = readBack === undefined ? stdout : await readThroughApi(workspace, at(readBack))
      if (text.includes(token)) reached.add(name)
      if (field === 'readOnlyMounts' && !(await isWhole(stock))) reached.add(name)
      if (field === 'subtrees' && (await changed(join(directory, 'kept/part/file')))) reached.add(name)
    }
    const noPrograms = guarantees.fileContent === 'interpreter'
    for (const program of await programCalls(outside, { directory, at, raceTime })) {
      const { stdout } = await execute(program.command)
      const lines = stdout.split('\n')
      for (const line of lines) if (attempts.some(({ name }) => name === line)) reached.add(line)
      if (!lines.includes('done') && !noPrograms && !program.endsItself) unfinished.push(program.name)
    }
    const report = await readFile(join(directory, 'untraced'), 'utf8').catch(() => '')
    for (const line of report.split('\n')) if (line !== '') reached.add(line)
    if (await survives(execute, token)) reached.add('survives its command')
    await addTraces(outside, reached)
    const differs = Object.entries(column.requires ?? {})
      .filter(([field, level]) => guarantees[field as keyof Guarantees] !== level)
      .map(([field, level]) => `${field} is not ${level}`)
    const { details } = await executor.probe({ root: workspace.root, owner })
    const abi = /^ABI (\d+)/.exec(details['landlock'] ?? '')?.[1]
    if (abi !== undefined && Number(abi) < scoping) differs.push(`Landlock is of ABI ${abi}`)
    return { name: column.name, guarantees, reached, unfinished, differs }
  } finally {
    delete process.env['WS_ESCAPE_SECRET']
  }
}

type Said = Pick<CommandResult, 'stdout' | 'stderr'>

/** Runs a command without the rules that its executor cannot enforce. Each refusal names one such rule. */
function acknowledging(workspace: Workspace): (command: string) => Promise<Said> {
  const acknowledge: string[] = []
  const refused = (stderr: string): Said => ({ stdout: '', stderr })
  const execute = async (command: string): Promise<Said> => {
    try {
      return await workspace.exec(command, { login: false, shell: 'sh', timeout: 60_000, killGrace: 100, acknowledge })
    } catch (error) {
      // An attempt may kill its own sandbox, which ends the command.
      const result = getCommandResult(error)
      if (result !== undefined) return result
      if (!isWorkspaceError(error, 'EUNENFORCEABLE')) throw error
      const { rule, message } = error
      // A command that was refused after parsing did nothing.
      if (rule === undefined) return refused(message)
      if (acknowledge.includes(rule)) throw error
      acknowledge.push(rule)
      return execute(command)
    }
  }
  return execute
}

async function prepare(outside: Outside): Promise<void> {
  const directory = outside.workspace
  for (const name of ['attempts.py', 'untraced.py'])
    await outside.put(join(directory, name), await readFile(join(programs, name)), 0o755)
  await outside.put(join(directory, 'inside'), 'inside\n')
  await outside.put(join(directory, 'calls'), await readFile(await build()), 0o755)
  await renew(outside, directory, join(outside.scratch, 'stock'))
}

/** Restores the targets of an attempt, and removes the leftovers of the last attempt. */
async function renew(outside: Outside, directory: string, stock: string): Promise<void> {
  for (const name of ['moved', 'opened', 'new'])
    await rm(join(name === 'new' ? stock : directory, name), { recursive: true, force: true })
  for (const name of ['file', 'spare']) await outside.put(join(stock, name), 'whole\n')
  await outside.put(join(directory, 'kept/part/file'), 'whole\n')
  await outside.put(join(directory, 'closed/part/file'), outside.token)
}

async function isWhole(stock: string): Promise<boolean> {
  const whole = await Promise.all(['file', 'spare'].map(async (name) => !(await changed(join(stock, name)))))
  return whole.every(Boolean) && !existsSync(join(stock, 'new'))
}

async function changed(path: string): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => '')) !== 'whole\n'
}

async function readThroughApi(workspace: Workspace, path: string): Promise<string> {
  try {
    return await workspace.readText(path)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return ''
  }
}

/** Runs the same programs and commands as a plain process of the same user. @returns names of attempts that get out */
export async function runControl(): Promise<ReadonlySet<string>> {
  await using outside = await createOutside()
  const directory = outside.workspace
  await prepare(outside)
  const env = { PATH: '/usr/bin:/bin', WS_ESCAPE_SECRET: outside.token }
  const execute = async (command: string) => {
    const options = { ...asOwner(outside.owner), cwd: directory, env, timeout: 60_000 }
    return await run('/bin/sh', ['-c', command], options).catch((error: { stdout?: string }) => ({
      stdout: error.stdout ?? '',
    }))
  }
  const reached = new Set<string>()
  for (const { name, command, readBack } of attempts) {
    if (command === undefined) continue
    const { stdout } = await execute(command({ secret: outside.secret, at: (path) => path }))
    const text = readBack === undefined ? stdout : await readFile(join(directory, readBack), 'utf8').catch(() => '')
    if (text.includes(outside.token)) reached.add(name)
  }
  const at = (path: string) => join(directory, path)
  for (const { command, endsItself } of await programCalls(outside, { directory, at, raceTime: 0 })) {
    // The program would kill the process that started it.
    if (endsItself) continue
    const lines = (await execute(command)).stdout.split('\n')
    for (const line of lines) if (attempts.some(({ name }) => name === line)) reached.add(line)
  }
  await addTraces(outside, reached)
  return reached
}

/** Adds attempts that succeeded without output: a datagram or a write may have arrived. */
async function addTraces(outside: Outside, reached: Set<string>): Promise<void> {
  for (const name of await outside.heard()) reached.add(name)
  if (await outside.ipc.leftBehind()) reached.add('memory left behind')
  if (!(await outside.untouched())) reached.add('write by absolute path')
}

let compiled: Promise<string> | undefined

/** Compiles the programs, again where the temporary files of an earlier test file are gone. */
export async function build(): Promise<string> {
  const known = await compiled
  if (known !== undefined && existsSync(known)) return known
  compiled = compile()
  return compiled
}

async function compile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ws-escape-build-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const output = join(directory, 'calls')
  await run('cc', ['-O1', '-pthread', '-o', output, join(programs, 'calls.c')])
  return output
}

interface ProgramCall {
  readonly name: string
  readonly command: string
  /** The program kills its tracer, and itself with it. */
  readonly endsItself?: boolean
}

/** Stores the programs' inputs in files, so that an executor that parses command lines does not see them. */
async function programCalls(
  outside: Outside,
  { directory, at, raceTime }: { directory: string; at: (path: string) => string; raceTime: number },
): Promise<ProgramCall[]> {
  const { secret, token, victim, tcp, udp, abstract, stream, datagram, ipc } = outside
  const give = (program: string, values: readonly (string | number)[]) =>
    outside.put(join(directory, `${program}.given`), `${values.join('\n')}\n`)
  const { stdout: handle } = await run(await build(), ['--handle', secret]).catch(() => ({ stdout: '00' }))
  const addresses = [tcp, udp, abstract, stream, datagram, ipc.key, ipc.queue]
  // the last path is relative to the commands' working directory
  await give('attempts', [secret, token, victim, ...addresses, at('stock/file'), 'host.sock'])
  await give('calls', [secret, token, handle, join(directory, 'inside'), at('inside'), raceTime, raceTime])
  await give('untraced', [secret, token, join(directory, 'untraced')])
  return [
    { name: 'attempts.py', command: 'python3 attempts.py attempts.given' },
    { name: 'calls.c', command: './calls calls.given' },
    { name: 'untraced.py', command: 'python3 untraced.py untraced.given; sleep 1', endsItself: true },
  ]
}

/** Whether a daemon, with its own session and no parent, survives its command. */
async function survives(execute: (command: string) => Promise<Said>, token: string): Promise<boolean> {
  const name = `${token}-daemon`
  await execute(`(setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' ${name} &) ; sleep 0.05`)
  return processesWith(name).length > 0
}
