import type { BackgroundCommand, CommandResult } from '@ws/core'
import { z } from 'zod'

import { problemOf } from '../answers/from-error.ts'
import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import { inTurn, runCommand, startCommand } from '../session/kept-shell.ts'
import type { Call } from '../session/session.ts'
import { headAndTail } from '../text/cut.ts'
import { fenced } from '../text/frame.ts'
import { ruleNotes } from '../text/rule-notes.ts'
import { operation } from './operation.ts'

const defaultTimeout = 120_000
export const longestTimeout = 600_000

export const execute = operation({
  name: 'execute',
  description:
    'Runs a shell command in the workspace, whose files are the same as for the file operations. Gives the exit code and the ' +
    'output: 40 KB at most, head and tail. With `background` it returns at once with an id; `id` then shows new output, and ' +
    '`kill` ends the command.',
  input: z.strictObject({
    command: z.string().min(1).optional().describe('Shell command line'),
    cwd: z.string().min(1).optional().describe('Directory to run in. Default: the root'),
    timeout: z
      .int()
      .min(1)
      .max(longestTimeout)
      .optional()
      .describe('Milliseconds, at most 600,000. Default 120,000; none in the background'),
    background: z.boolean().optional().describe('Return at once. Default false'),
    id: z.string().min(1).optional().describe('A background command: show its new output'),
    kill: z.boolean().optional().describe('End the background command `id`. Default false'),
    restart: z.boolean().optional().describe('Begin with a new shell, at the root. Default false'),
  }),
  example: { command: 'ls -la' },
  readOnly: false,
  destructive: true,
  idempotent: false,
  async handle(call, { command, cwd, timeout, background = false, id, kill = false, restart = false }) {
    if (id !== undefined) {
      call.pass()
      if (command !== undefined) throw wrong('`command` and `id` are both given', 'id', { id })
      return kill ? killCommand(call, id) : newOutput(call, id)
    }
    if (kill) throw wrong('`kill` needs the argument `id` (text), which is missing', 'id', { id: 'c1', kill: true })
    if (command === undefined && !restart) {
      throw wrong('`execute` needs the argument `command` (text that is not empty), which is missing', 'command', {
        command: 'ls -la',
      })
    }
    return inTurn(call, async () => {
      if (restart) call.session.shell?.restart()
      if (command === undefined) return { text: `The shell is new, and in ${call.workspace.root}.` }
      if (background) return startedOutcome(call, await startCommand(call, command, { cwd, timeout }))
      const limit = timeout ?? defaultTimeout
      const { result, notes } = await runCommand(call, command, { cwd, timeout: limit })
      const outcome = commandOutcome(result, { timeout: limit, notes })
      if ('error' in result) throw new ToolProblem({ ...problemOf(result.error), details: outcome.text })
      return outcome
    })
  },
})

function startedOutcome({ session, workspace }: Call, { id }: BackgroundCommand): Outcome {
  session.background.set(id, 0)
  // A server begins to listen later than it starts.
  const ports = workspace.executor?.sharesLoopback
    ? ' Ask for it by this id: the answer names the ports on which commands listen.'
    : ''
  return {
    text: `Started in the background with id ${id}.${ports}`,
    data: { id },
    next: { operation: 'execute', arguments: { id } },
  }
}

function wrong(sentence: string, argument: string, example: Record<string, string | boolean>): ToolProblem {
  return new ToolProblem({
    sentence,
    remedy: 'nothing was run; give a command, or the id of a background command',
    next: { operation: 'execute', arguments: example },
    data: { code: 'EINVAL', argument },
  })
}

function commandOutcome(
  result: CommandResult,
  { timeout, notes }: { readonly timeout: number; readonly notes: readonly string[] },
): Outcome {
  const { exitCode, exitStatus, signal, timedOut, output, truncated, duration } = result
  const end = timedOut
    ? `Timed out after ${timeout} ms, and was ended.`
    : exitCode === null
      ? `Ended by ${signal ?? 'a signal'}.`
      : `Exit code ${exitCode}.`
  const body = output === '' ? '(no output)' : headAndTail(output.replace(/\n$/u, ''), fenced)
  return {
    text: [end, body, ...ruleNotes(result), ...identityNote(output), ...notes].join('\n'),
    data: { exit_code: exitStatus, signal, timed_out: timedOut, truncated, duration: Math.round(duration) },
  }
}

/** A note on how to set the author, since rules often block the `git config` that git's message suggests. */
function identityNote(output: string): readonly string[] {
  return /^(?:Author|Committer) identity unknown$/mu.test(output)
    ? ['Note: git knows no author here; commit with `git -c user.name=NAME -c user.email=EMAIL commit`.']
    : []
}

async function newOutput(call: Call, id: string): Promise<Outcome> {
  const command = call.workspace.command(known(call, id))
  const since = call.session.background.get(id) ?? 0
  const { output } = command.output({ since: { output: since } })
  call.session.background.set(id, output.next)
  const { running, result } = command
  const state = running
    ? 'Running.'
    : result === undefined
      ? 'Failed to run to its end.'
      : result.exitCode === null
        ? `Ended by ${result.signal ?? 'a signal'}.`
        : `Exit code ${result.exitCode}.`
  const ports = call.workspace.executor?.sharesLoopback ? await call.workspace.ports() : []
  const note =
    ports.length === 0 ? [] : [`Commands listen at \`localhost\` on: ${ports.map(({ port }) => port).join(', ')}.`]
  const dropped = output.dropped > 0 ? `[${output.dropped} bytes of earlier output are not kept]\n` : ''
  const body = output.text === '' ? '(no new output)' : headAndTail(output.text.replace(/\n$/u, ''), fenced)
  return {
    text: [`${state}\n${dropped}${body}`, ...note, ...ruleNotes(result ?? {})].join('\n'),
    data: { id, running, exit_code: result?.exitStatus ?? null },
    ...(running && { next: { operation: 'execute', arguments: { id } } }),
  }
}

async function killCommand(call: Call, id: string): Promise<Outcome> {
  const command = call.workspace.command(known(call, id))
  const wasRunning = command.kill('SIGKILL')
  if (wasRunning) await command.wait().catch(() => undefined) // how a killed command ends does not matter
  return {
    text: wasRunning ? `Ended the background command ${id}.` : `The background command ${id} had ended already.`,
    data: { id, running: false },
  }
}

/** Checks that the command is one of this session: a model sees only its own commands. */
function known(call: Call, id: string): string {
  const ids = [...call.session.background.keys()]
  if (ids.includes(id)) return id
  throw new ToolProblem({
    sentence: `\`${id.slice(0, 64).toWellFormed()}\` is not a background command of this toolset${ids.length === 0 ? '' : `; the ids are ${ids.map((one) => `\`${one}\``).join(', ')}`}`,
    remedy: 'start one with `background`',
    next:
      ids[0] === undefined
        ? { operation: 'execute', arguments: { command: 'ls -la', background: true } }
        : { operation: 'execute', arguments: { id: ids[0] } },
    data: { code: 'ENOENT', argument: 'id' },
  })
}
