import { isWorkspaceError, type ExplainRequest, type Explanation, type Workspace, type WorkspaceError } from '@ws/core'
import { fileOperations } from '@ws/core/adapter'
import { Argument, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { inOwnWords, ownRemedy } from '../own-words.ts'
import { renderTable } from '../terminal/table.ts'

const operations: readonly ExplainRequest['operation'][] = [...fileOperations, 'exec', 'connect']

export function addExplain(program: Command, start: Start): void {
  program
    .command('explain')
    .summary('say what the policy decides, and why')
    .description(
      'Says whether an operation is allowed, which rule decides, what to do instead, and how each door holds it, without ' +
        'doing it. Ends with 0 for an allow and for a denial alike.',
    )
    .addArgument(new Argument('<operation>').choices(operations))
    .argument('<path>', 'for exec: the directory to run in; for connect: HOST or HOST:PORT')
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws --config ws.config.json explain write /src/a.ts\n  $ ws --config ws.config.json explain exec /\n' +
        '  $ ws --allow-host example.org explain connect example.org:443',
    )
    .action((operation: ExplainRequest['operation'], path: string) => {
      start((context) => explain(context, operation === 'connect' ? connectionTo(path) : { operation, path }))
    })
}

function connectionTo(text: string): ExplainRequest {
  const [, host = text, port] = /^(.*):(\d+)$/u.exec(text) ?? []
  return { operation: 'connect', host, ...(port !== undefined && { port: Number(port) }) }
}

async function explain(context: CommandContext, request: ExplainRequest): Promise<number> {
  const { output, style } = context
  const opened = await openWithExecutorIfThereIsOne(context)
  await using workspace = opened.workspace
  const explained = await workspace.explain(request)
  const explanation = request.operation === 'exec' ? withoutExecutor(explained, opened.refusal) : explained
  const executor = workspace.executor?.name
  if (output.json) await output.value({ ...request, ...explanation, executor, noExecutor: opened.refusal?.message })
  else
    await output.line(
      renderTable(
        rowsOf(context, request, explanation, executor, opened.refusal).map(([name = '', ...rest]) => [
          style.dim(name),
          ...rest,
        ]),
        { widths: [labelWidth, Math.max(20, style.width - labelWidth - 3)] },
      ),
    )
  return exitCodes.ok
}

const labelWidth = 25

/** Opens the workspace, with an executor if an executor is usable: files can be explained without executor. */
async function openWithExecutorIfThereIsOne({
  open,
}: CommandContext): Promise<{ workspace: Workspace; refusal?: WorkspaceError }> {
  try {
    return { workspace: await open({ executors: true }) }
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOEXECUTOR')) throw error
    return { workspace: await open(), refusal: inOwnWords(error, 'explain') }
  }
}

/** Adds the reason why no executor could be selected. */
function withoutExecutor(explanation: Explanation, refusal: WorkspaceError | undefined): Explanation {
  if (refusal === undefined || explanation.code !== 'ENOEXECUTOR') return explanation
  const { code, reason, remedy } = refusal
  return { ...explanation, code, reason, remedy }
}

function rowsOf(
  { output, style }: CommandContext,
  { operation, path = '', host, port }: ExplainRequest,
  explanation: Explanation,
  executor: string | undefined,
  refusal: WorkspaceError | undefined,
): string[][] {
  const { effect, resolvedPath, mount, rule, code, reason, remedy, enforcedBy } = explanation
  const rows: (readonly [string, string | undefined])[] = [
    [operation, host === undefined ? output.name(path) : output.name(`${host}${port === undefined ? '' : `:${port}`}`)],
    ['resolves to', host !== undefined || resolvedPath === path ? undefined : output.name(resolvedPath)],
    ['mount', mount],
    [
      'effect',
      effect === 'allow' ? style.good('allow') : `${style.bad('deny')}${code === undefined ? '' : ` ${code}`}`,
    ],
    ['rule', rule],
    ['entry', explanation.entry],
    ['reason', reason],
    ['remedy', remedy],
    ['held at the file API by', enforcedBy.files],
    ['held in commands by', enforcedBy.exec === undefined ? undefined : `${enforcedBy.exec} (${executor ?? ''})`],
    ['root of commands', rootOf(explanation)],
    ...(explanation.passedOver ?? []).map(
      ({ executor: name, reason: why, remedy: how }) =>
        ['passed over', `${name}: ${why}${how === undefined ? '' : `; ${ownRemedy(how, 'explain')}`}`] as const,
    ),
    ['no commands', operation === 'exec' ? undefined : refusal?.message],
    ...(explanation.exceptions ?? []).map((exception) => ['exception', exception] as const),
    ...(explanation.unenforceable ?? []).map(
      (rule) => ['not enforceable', `${rule.rule}: ${rule.reason}; ${rule.remedy}`] as const,
    ),
    ...(explanation.renameBorders ?? []).map((border) => ['rename across is EXDEV', output.name(border)] as const),
  ]
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
}

function rootOf({ rootForm }: Explanation): string | undefined {
  if (rootForm === undefined) return undefined
  if (rootForm.form === 'direct') return 'direct (the directory itself, at full speed)'
  return `translated, slow with many files${rootForm.reason === undefined ? '' : `: it ${rootForm.reason}`}`
}
