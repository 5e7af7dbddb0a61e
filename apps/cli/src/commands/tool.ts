import { faceNames, type FaceName } from '@ws/tools/face-names'
import { Option, type Command } from 'commander'

import { readCall } from '../config/read-call.ts'
import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { approveOn, checkTerminal } from './approval.ts'
import { openWithCheckpoints, stateFlag } from './checkpoints.ts'

interface Flags {
  readonly face: FaceName
  readonly downloads: boolean
  readonly approve?: true
  readonly state?: string
}

export function addTool(program: Command, start: Start): void {
  program
    .command('tool')
    .summary('run one tool call of a model')
    .description(
      'Runs one call as a model makes it: a file with {"tool": NAME, "arguments": {…}}. Prints the answer, and ends with 1 when it ' +
        'is an error.',
    )
    .argument('<call>', 'a JSON file of this machine')
    .addOption(new Option('--face <face>', 'the form of the tools').choices(faceNames).default('file_system'))
    .option('--no-downloads', 'refuse the tool `download`')
    .option('--approve', 'show what the call changed, and ask which changes to keep')
    .option(...stateFlag)
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws --root . tool call.json\n  $ ws --root . tool --approve call.json\n  $ ws --root . --json tool --face claude-code call.json',
    )
    .action((file: string, flags: Flags) => {
      start((context) => run(context, file, flags))
    })
}

async function run(context: CommandContext, file: string, { approve, state, ...flags }: Flags): Promise<number> {
  const { open, output, settings, style, signal } = context
  if (approve) checkTerminal(output, 'leave out --approve')
  const call = readCall(file)
  const { createTools } = await import('@ws/tools')
  const downloads = flags.downloads && settings.downloads
  const { operation } = (call.arguments ?? {}) as { readonly operation?: unknown }
  const isDownload = call.tool === 'download' || operation === 'download'
  // without hosts in its own settings, a download uses the network of commands
  const needsExecutor = /^(?:execute|bash|shell)$/iu.test(call.tool) || (isDownload && downloads === undefined)
  const opened = { executors: needsExecutor }
  await using workspace = await (approve ? openWithCheckpoints(context, { state }, opened) : open(opened))
  await using toolset = createTools(workspace, {
    face: flags.face,
    downloads,
    ...(approve && { approve: approveOn(style) }),
  })
  const answer = await toolset.run(call.tool, call.arguments, { signal })
  if (output.json) await output.value(answer)
  else await output.content([Buffer.from(`${answer.text}\n`)])
  return answer.isError ? exitCodes.failed : exitCodes.ok
}
