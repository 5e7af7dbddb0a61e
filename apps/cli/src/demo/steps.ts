import { isWorkspaceError, type CommandResult, type Workspace } from '@ws/core'

import { escapeName } from '../terminal/escape.ts'
import type { Style } from '../terminal/style.ts'

/** One thing that is done in front of your eyes, and its result. */
export interface Step {
  readonly door: 'files' | 'shell'
  readonly shown: string
  readonly run: (workspace: Workspace) => Promise<string>
}

/** Columns for what is done; the rest of the line is for what comes of it. */
const commandWidth = 46

export function files(shown: string, run: Step['run']): Step {
  return { door: 'files', shown, run }
}

export function shell(command: string): Step {
  return {
    door: 'shell',
    shown: command,
    run: async (workspace) => describe(await workspace.exec(command, { timeout: 20_000 })),
  }
}

/** Takes the steps, and says each with what came of it; a refusal is an outcome like others. */
export async function showSteps(
  workspace: Workspace,
  steps: readonly Step[],
  style: Style,
  say: (line: string) => void,
): Promise<void> {
  for (const { door, shown, run } of steps) {
    const label = door === 'files' ? style.strong('files ') : style.note('shell$')
    const result = await run(workspace).catch((error: unknown) => {
      if (!isWorkspaceError(error)) throw error
      return `${error.code}: ${error.reason}`
    })
    say(renderLine(label, shown, result, style))
  }
}

/** `label` has six columns. */
export function renderLine(label: string, shown: string, result: string, style: Style): string {
  const line = escapeName(result.trim().replaceAll(/\s+/gu, ' ')).replaceAll('\\\\', '\\')
  const outcome = style.dim(shorten(line, style.width - commandWidth - 11))
  return `  ${label} ${shorten(shown, commandWidth).padEnd(commandWidth)} ${outcome}`
}

const shorten = (text: string, width: number): string => (text.length > width ? `${text.slice(0, width - 1)}…` : text)

const describe = ({ stdout, stderr, exitCode }: CommandResult): string =>
  exitCode === 0 ? stdout : `${stdout}${complaint(stderr)} (exit ${exitCode})`

/** Shells differ in where they put the path; only the fault matters. */
const complaint = (stderr: string): string =>
  stderr
    .trim()
    .split(': ')
    .findLast((part) => !part.startsWith('/')) ?? ''
