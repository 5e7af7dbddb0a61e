import { getCommandNames, parse } from '#just-bash'

import { tools } from '../tools/index.ts'
import { literal, type SimpleCommand, walk, wordOf } from '../state/nodes.ts'

const programs: ReadonlySet<string> = new Set([...getCommandNames(), ...Object.keys(tools)])

interface PipelineShape {
  readonly type: 'Pipeline'
  commands: { readonly type: string; readonly redirections?: object[] }[]
  /** For each part of the pipeline, true if `|&` follows. */
  pipeStderr?: readonly boolean[]
}

/** Makes a subshell of each pipeline part that may change the shell: just-bash would restore only variables. */
export function isolatePipelines(ast: unknown): void {
  walk(ast, (node) => {
    if ((node.type as string) !== 'Pipeline') return
    const pipeline = node as unknown as PipelineShape
    const { commands, pipeStderr = [] } = pipeline
    for (const [index, isBoth] of pipeStderr.entries())
      if (isBoth)
        commands[index]?.redirections?.push({ type: 'Redirection', fd: 2, operator: '>&', target: wordOf('1') })
    pipeline.pipeStderr = []
    if (commands.length > 1) pipeline.commands = commands.map(isolated)
  })
}

function isolated(command: { readonly type: string }): { readonly type: string } {
  if (command.type === 'Subshell') return command
  if (command.type === 'SimpleCommand' && programs.has(literal((command as SimpleCommand).name) ?? '')) return command
  const [inner] = parse(':').statements
  Object.assign(inner?.pipelines[0] ?? {}, { commands: [command] })
  return { type: 'Subshell', body: [inner], redirections: [] } as { readonly type: string }
}
