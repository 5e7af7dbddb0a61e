import { WorkspaceError } from '@ws/core'
import { noGuarantees, type Executor } from '@ws/core/executor'
import { defineExecutor, type Probed, unavailable } from '@ws/sandbox'

import type { Machine } from '../contract.ts'
import { AttendedMachine } from './attended.ts'
import { commandsOn } from './command.ts'
import { Copies } from './copies.ts'
import { probeScript } from './script.ts'
import { textFrom } from './text-from.ts'

export interface MachineExecutorOptions {
  /** The name in messages and results. Default: that of the machine. */
  readonly name?: string | undefined
}

interface Found {
  readonly shell: string
  /** False: output passes through strings. */
  readonly isBytes: boolean
  readonly hasPerl: boolean
}

/**
 * Runs a workspace's commands on another machine, on a copy of the workspace. The copy's directory must be empty at first.
 * Before a command, changes of the workspace are copied in. After a command, its changes are written by the file API, under the policy.
 * Refused changes are undone before the next command. The command then fails, with path and reason in its standard error.
 * Where both sides changed a file, the workspace's version keeps the name, and the machine's gets a name beside it.
 * The executor declares no guarantee. With rules or read-only mounts, the core refuses commands until the caller acknowledges this.
 * The machine needs a POSIX shell, GNU find, GNU tar and coreutils, and serves one workspace at a time. The caller stops the machine.
 */
export function createMachineExecutor(
  machine: Machine,
  { name = machine.name }: MachineExecutorOptions = {},
): Executor {
  let isAttached = false
  let known: Probed<Found> | undefined
  return defineExecutor<Machine, Found>({
    name,
    kind: 'interpreter',
    async probe() {
      known ??= await probe(machine)
      const answer = known
      if (answer.found === undefined) known = undefined // the machine may get what it lacks
      return answer
    },
    guarantees: () => noGuarantees,
    async attach({ root, files }, { shell, isBytes, hasPerl }) {
      if (root === '/') {
        throw refuse('EINVAL', `the executor ${name} cannot replace \`/\` of its machine`, {
          remedy: 'mount the workspace at a directory, such as `/workspace`',
        })
      }
      if (isAttached) {
        throw refuse('EBUSY', `the executor ${name} serves another workspace, whose files are on its machine`, {
          remedy: 'start a machine for each workspace',
        })
      }
      isAttached = true
      const attended = machine.hasInput && hasPerl ? await AttendedMachine.open(machine, !isBytes) : undefined
      const used = attended ?? machine
      const onClose = async () => {
        await attended?.close()
        isAttached = false
      }
      const copies = new Copies({ machine: used, root, files, isText: attended === undefined && !isBytes })
      try {
        await copies.open()
      } catch (error) {
        await onClose()
        throw error
      }
      return commandsOn({ name, machine: used, copies, shell, onClose })
    },
  })(machine)
}

async function probe(machine: Machine): Promise<Probed<Found>> {
  const answer = await textFrom(machine, ['sh', '-c', probeScript]).catch(() => '') // the machine runs no shell
  const missing = [...new Set([...answer.matchAll(/^missing (.+)$/gmu)].map(([, program = '']) => program))]
  const shell = /^shell (?<shell>\/\S+)$/mu.exec(answer)?.groups?.shell
  if (missing.length > 0) {
    const names = missing.map((program) => (['find', 'tar', 'comm'].includes(program) ? `GNU ${program}` : program))
    return unavailable(
      `the machine has no ${names.join(', ')}`,
      'install findutils, tar, coreutils, sed and util-linux on the machine',
    )
  }
  if (shell === undefined)
    return unavailable('the machine does not answer, or runs no shell', 'look at the machine, or start a new one')
  const isBytes = answer.includes('bytes \u{ff}\u{80}\n')
  return { found: { shell, isBytes, hasPerl: /^perl$/mu.test(answer) } }
}

function refuse(code: 'EINVAL' | 'EBUSY', reason: string, { remedy }: { readonly remedy: string }): WorkspaceError {
  return new WorkspaceError({ code, operation: 'createWorkspace', reason, remedy })
}
