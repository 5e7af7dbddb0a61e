import { getCommandNames, parse } from '#just-bash'

import { tools } from '../tools/index.ts'
import { literal, type SimpleCommand, walk } from './nodes.ts'

const programs: ReadonlySet<string> = new Set([...getCommandNames(), ...Object.keys(tools)])

interface PipelineShape {
  readonly type: 'Pipeline'
  commands: { readonly type: string }[]
}

/** Makes each part of a pipeline that may change the shell a subshell: just-bash takes back its variables only. */
export function isolatePipelines(ast: unknown): void {
  walk(ast, (node) => {
    if ((node.type as string) !== 'Pipeline') return
    const pipeline = node as unknown as PipelineShape
    if (pipeline.commands.length > 1) pipeline.commands = pipeline.commands.map(isolated)
  })
}

function isolated(command: { readonly type: string }): { readonly type: string } {
  if (command.type === 'Subshell') return command
  if (command.type === 'SimpleCommand' && programs.has(literal((command as SimpleCommand).name) ?? '')) return command
  const [inner] = parse(':').statements
  Object.assign(inner?.pipelines[0] ?? {}, { commands: [command] })
  return { type: 'Subshell', body: [inner], redirections: [] } as { readonly type: string }
}
