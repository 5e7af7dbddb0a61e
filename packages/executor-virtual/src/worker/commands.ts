import { type CustomCommand, defineCommand, type ExecResult, getCommandNames } from 'just-bash'

import { errorWords } from '../files/errors.ts'
import type { BashFileSystem } from '../files/system.ts'
import { refusalOf } from './guard/rule.ts'
import { commandRules } from './guard/rules.ts'
import { refusedCommand } from './syntax/checked.ts'
import { decodeCommand } from './syntax/reading.ts'
import { missingCommand } from './syntax/missing.ts'
import type { Session } from './session.ts'
import { tools } from './tools/index.ts'
import type { CommandContext } from './tools/tool.ts'

/**
 * Every command that a script can run: ours, and those of just-bash in the forms that were compared with the real ones.
 * Any other form ends the script.
 */
export function guardedCommands(files: BashFileSystem, session: Session): CustomCommand[] {
  const names = new Set([...getCommandNames(), ...Object.keys(tools)])
  return [...names]
    .map((name) => guarded(name, files, session))
    .concat(missingCommand(session), refusedCommand(session), decodeCommand(session))
}

function guarded(name: string, files: BashFileSystem, session: Session): CustomCommand {
  const rule = commandRules[name]
  return defineCommand(
    name,
    async (given, context) => {
      session.check()
      const refusal = rule === undefined ? notCompared(name) : refusalOf(name, rule, given)
      if (refusal !== undefined) session.refuse(refusal.subject, refusal.reason)
      const tool = tools[name]
      const result =
        tool === undefined
          ? await runOriginal(name, given, context, files)
          : await tool({ name, given, context, session })
      session.check()
      return result
    },
    { trusted: false },
  )
}

function notCompared(subject: string): { readonly subject: string; readonly reason: string } {
  return { subject, reason: 'it was not compared with the real command' }
}

async function runOriginal(
  name: string,
  given: string[],
  { origCommand }: CommandContext,
  files: BashFileSystem,
): Promise<ExecResult> {
  if (origCommand === undefined) return { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: 127 }
  const before = files.failures.length
  const result = await origCommand(given)
  if (name !== 'rm' || result.exitCode !== 0 || result.stderr !== '') return result
  // `-f` is about what is not there; just-bash is silent about everything.
  const refused = new Map(files.failures.slice(before).map(({ path, code }) => [path, code]))
  if (refused.size === 0) return result
  const lines = [...refused].map(([path, code]) => `rm: cannot remove '${path}': ${errorWords[code] ?? code}\n`)
  return { ...result, stderr: lines.join(''), exitCode: 1 }
}
