import type { ExplainRequest } from '@ws/core'

type Fields = Readonly<Record<string, unknown>>

/** The accesses that a tool call needs, in any face. `undefined` for an unknown tool or invalid arguments, which the tool reports. */
export function accessesOf(tool: string, input: unknown): readonly ExplainRequest[] | undefined {
  const fields = typeof input === 'object' && input !== null ? (input as Fields) : {}
  if (tool === 'apply_patch') return patchAccesses(fields)
  if (tool === 'shell') return commandAccesses(fields['commands'], undefined)
  if (isCommandTool(tool)) return commandOf(fields)
  // some tools name the operation in an argument; other tools have the operation's name
  const named = tool === 'file_system' ? fields['operation'] : hasCommands(tool) ? fields['command'] : tool
  const row = typeof named === 'string' && Object.hasOwn(rows, named) ? rows[named] : undefined
  return row?.(fields)
}

type Row = (fields: Fields) => readonly ExplainRequest[] | undefined

function at(names: readonly string[], ...operations: readonly ExplainRequest['operation'][]): Row {
  return (fields) => {
    const path = names.map((name) => fields[name]).find((value) => value !== undefined)
    return typeof path === 'string' ? operations.map((operation) => ({ operation, path })) : undefined
  }
}

function below(operation: ExplainRequest['operation']): Row {
  return ({ path = '.' }) => (typeof path === 'string' ? [{ operation, path }] : undefined)
}

function both(first: Row, second: Row): Row {
  return (fields) => {
    const [from, to] = [first(fields), second(fields)]
    return from === undefined || to === undefined ? undefined : [...from, ...to]
  }
}

export function placeOf({ hostname: host, protocol, port }: URL): { readonly host: string; readonly port: number } {
  return { host, port: Number(port || (protocol === 'http:' ? 80 : 443)) }
}

const connect: Row = ({ url }) =>
  typeof url === 'string' && URL.canParse(url) ? [{ operation: 'connect', ...placeOf(new URL(url)) }] : []

const file = ['path', 'file_path']
const read = at(file, 'read')
const write = at(file, 'write')
const edit = at(file, 'read', 'write')
const remove = at(file, 'delete')
const move = both(at(['from', 'old_path'], 'move'), at(['to', 'new_path'], 'write'))
const list = below('list')
const search = below('search')
const running: Row = () => []

/** Rows by operation, by tool name, and by command name of a tool. */
const rows: Readonly<Record<string, Row>> = {
  read,
  read_chunked: read,
  inspect: read,
  view: read,
  view_image: read,
  Read: read,
  write,
  create: write,
  download: both(write, connect),
  Write: write,
  replace: edit,
  edit,
  str_replace: edit,
  insert: edit,
  Edit: edit,
  delete: remove,
  copy: both(at(['from'], 'copy'), at(['to'], 'write')),
  move,
  rename: move,
  list,
  find: list,
  glob: list,
  Glob: list,
  search,
  grep: search,
  Grep: search,
  TaskOutput: running,
  TaskStop: running,
}

function hasCommands(tool: string): boolean {
  return tool === 'str_replace_based_edit_tool' || tool === 'memory'
}

function isCommandTool(tool: string): boolean {
  return tool === 'execute' || tool === 'bash' || tool === 'Bash'
}

function commandOf({ command, cwd, id, restart }: Fields): readonly ExplainRequest[] | undefined {
  // without a command, the call reads the output of a running command or restarts the shell
  if (command === undefined && (typeof id === 'string' || restart === true)) return []
  return commandAccesses([command], cwd)
}

function commandAccesses(commands: unknown, cwd: unknown): readonly ExplainRequest[] | undefined {
  const path = cwd ?? '.'
  if (!Array.isArray(commands) || commands.length === 0 || typeof path !== 'string') return undefined
  const lines = commands.filter((command) => typeof command === 'string')
  if (lines.length !== commands.length) return undefined
  return lines.map((command) => ({ operation: 'exec', path, command }))
}

function patchAccesses({ input, operation, ...own }: Fields): readonly ExplainRequest[] | undefined {
  if (typeof input === 'string') {
    const names = [...input.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gmu)]
    const paths = names.map(([, named, moved]) => (named ?? moved ?? '').trim())
    return paths.length === 0 ? undefined : paths.map((path) => ({ operation: 'write', path }))
  }
  const { path, moveTo } = typeof operation === 'object' && operation !== null ? (operation as Fields) : own
  if (typeof path !== 'string') return undefined
  const target = typeof moveTo === 'string' ? [moveTo] : []
  return [path, ...target].map((one) => ({ operation: 'write', path: one }))
}
