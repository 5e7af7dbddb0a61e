import { faceNames, type FaceName } from '@ws/tools/face-names'

export interface WrongCall {
  readonly name: string
  readonly face: FaceName
  readonly tool: string
  readonly input: unknown
}

type Arguments = Readonly<Record<string, unknown>>
type Call = readonly [tool: string, input: Arguments]

const patch = (...lines: readonly string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

/** A right call of each operation of each face, in a workspace with {@link files}. */
const right: Readonly<Record<FaceName, readonly Call[]>> = {
  file_system: operations().map(([operation, given]) =>
    operation === 'execute' ? ['execute', given] : ['file_system', { operation, ...given }],
  ),
  split: operations(),
  'claude-code': [
    ['Read', { file_path: '/a.txt', offset: 1, limit: 2 }],
    ['Edit', { file_path: '/a.txt', old_string: 'one', new_string: '1', replace_all: true }],
    ['Write', { file_path: '/new.txt', content: 'x' }],
    ['Glob', { pattern: '*.txt', path: '/dir' }],
    ['Grep', { pattern: 'one', path: '/dir', glob: '*.txt', output_mode: 'content', head_limit: 5 }],
    ['Bash', { command: 'true', timeout: 1000 }],
    ['TaskOutput', { task_id: 'c1' }],
    ['TaskStop', { task_id: 'c1' }],
  ],
  anthropic: [
    ['str_replace_based_edit_tool', { command: 'view', path: '/a.txt', view_range: [1, 2] }],
    ['str_replace_based_edit_tool', { command: 'create', path: '/new.txt', file_text: 'x' }],
    ['str_replace_based_edit_tool', { command: 'str_replace', path: '/a.txt', old_str: 'one', new_str: '1' }],
    ['str_replace_based_edit_tool', { command: 'insert', path: '/a.txt', insert_line: 1, insert_text: 'x\n' }],
    ['memory', { command: 'view', path: '/memories' }],
    ['memory', { command: 'create', path: '/memories/new.md', file_text: 'x' }],
    ['memory', { command: 'str_replace', path: '/memories/a.md', old_str: 'one', new_str: '1' }],
    ['memory', { command: 'insert', path: '/memories/a.md', insert_line: 1, insert_text: 'x\n' }],
    ['memory', { command: 'delete', path: '/memories/a.md' }],
    ['memory', { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/b.md' }],
    ['bash', { command: 'true', timeout_ms: 1000 }],
    ['read', { file_path: '/a.txt', view_range: [1, 2] }],
    ['write', { file_path: '/new.txt', content: 'x' }],
    ['edit', { file_path: '/a.txt', old_string: 'one', new_string: '1', replace_all: false }],
    ['glob', { pattern: '*.txt', path: '/dir' }],
    ['grep', { pattern: 'one', path: '/dir' }],
  ],
  openai: [
    ['apply_patch', { input: patch('*** Update File: a.txt', '@@', '-one', '+1') }],
    ['apply_patch', { type: 'update_file', path: '/a.txt', diff: '@@\n-one\n+1' }],
    ['apply_patch', { type: 'create_file', path: '/new.txt', diff: '+x' }],
    ['apply_patch', { type: 'delete_file', path: '/a.txt' }],
    ['apply_patch', { type: 'update_file', path: '/a.txt', diff: '@@\n-one\n+1', moveTo: '/b.txt' }],
    ['shell', { commands: ['true'], timeoutMs: 1000, maxOutputLength: 100 }],
  ],
}

function operations(): readonly Call[] {
  return [
    ['read', { path: '/a.txt', offset: 0, limit: 2 }],
    ['read_chunked', { path: '/a.txt', offset_bytes: 0, size: 16 }],
    ['inspect', { path: '/a.txt', lines: 2 }],
    ['write', { path: '/new.txt', content: 'x' }],
    ['replace', { path: '/a.txt', old: 'one', new: '1', all: true }],
    ['search', { pattern: 'one', path: '/dir', mode: 'content', limit: 5 }],
    ['find', { glob: '*.txt', path: '/dir' }],
    ['list', { path: '/dir', depth: 1 }],
    ['delete', { path: '/a.txt' }],
    ['copy', { from: '/a.txt', to: '/b.txt' }],
    ['move', { from: '/a.txt', to: '/b.txt' }],
    ['rename', { from: '/a.txt', to: '/b.txt' }],
    ['execute', { command: 'true', cwd: '/dir', timeout: 1000 }],
    ['download', { url: 'ftp://example.com/x', path: '/x' }],
  ]
}

export const files: Readonly<Record<string, string | Uint8Array>> = {
  '/a.txt': 'one\ntwo\ntwice\ntwice\n',
  "/it's here.txt": 'one\n',
  '/dir/b.txt': 'one\n',
  '/full/c.txt': 'one\n',
  '/denied/x.txt': 'one\n',
  '/locked/x.txt': 'one\n',
  '/memories/a.md': 'one\ntwice\ntwice\n',
  '/memories/sub/b.md': 'one\n',
  '/binary.bin': Uint8Array.from({ length: 512 }, (_, index) => index % 256),
  '/latin1.txt': Uint8Array.from([0xe9, 0x74, 0xe9, 10]),
}

export const links: Readonly<Record<string, string>> = {
  '/dangling.txt': 'nowhere.txt',
  '/loop': 'loop',
  '/to-dir': 'dir',
  '/memories/dangling.md': 'nowhere.md',
}

const wrongPaths = [
  ...[
    '',
    '/',
    '/none.txt',
    'none/deep/x.txt',
    '/dir',
    '/full',
    '/a.txt/below',
    '../outside',
    '/denied/x.txt',
    '/denied',
  ],
  ...[
    '/locked/x.txt',
    '/locked/new.txt',
    '/dangling.txt',
    '/loop',
    '/binary.bin',
    '/latin1.txt',
    '/to-dir',
    '/a*b.txt',
  ],
  ...["/it's not here.txt", '/workspace/none.txt', '/a.txt', `/${'x'.repeat(300)}`, '/a\0b', '/.ws-tmp-x', '/proc/1/x'],
]
const wrongMemories = ['/memories', '/memories/none.md', '/memories/sub', '/memories/../a.txt', '/memories/dangling.md']
const pathNames = ['path', 'file_path', 'from', 'to', 'cwd', 'old_path', 'new_path', 'moveTo']
const oldNames = ['old', 'old_str', 'old_string']
const patterns = ['pattern', 'glob']

/** The inputs that a model gets wrong, made from a right call. */
function* mistakes([tool, given]: Call): Generator<readonly [string, unknown]> {
  for (const input of [null, 'text', '{bad', [], 7]) yield [`arguments ${JSON.stringify(input)}`, input]
  yield ['another argument', { ...given, colour: 'red' }]
  for (const [name, value] of Object.entries(given)) {
    const without = Object.fromEntries(Object.entries(given).filter(([one]) => one !== name))
    const put = (other: unknown): Arguments => ({ ...given, [name]: other })
    yield [`without ${name}`, without]
    yield [`${name} misspelt`, { ...without, [name.slice(0, -1)]: value }]
    for (const other of [{}, [], 'much', -1, true]) {
      if (typeof other !== typeof value || typeof other !== 'string')
        yield [`${name} ${JSON.stringify(other)}`, put(other)]
    }
    if (pathNames.includes(name)) {
      const wrong = tool === 'memory' ? [...wrongMemories, '/a.txt', '/', ''] : wrongPaths
      for (const path of wrong) yield [`${name} ${JSON.stringify(path).slice(0, 40)}`, put(path)]
    }
    if (oldNames.includes(name)) for (const old of ['nowhere', 'twice', '', 'on']) yield [`${name} ${old}`, put(old)]
    if (patterns.includes(name)) for (const pattern of ['(', '[', '**/{']) yield [`${name} ${pattern}`, put(pattern)]
    if (name === 'operation' || name === 'type' || (name === 'command' && 'path' in given))
      yield [`${name} raed`, put('raed')]
    if (name === 'command') yield ['command blank', put(' ')]
    if (name === 'commands') for (const commands of [[], [''], ['a\0b']]) yield ['commands', put(commands)]
    if (name === 'timeout') yield ['timeout too long', put(1e9)]
    if (name === 'view_range')
      for (const range of [[0, 1], [3, 1], [1], [1, 2, 3]]) yield [`range ${range.join()}`, put(range)]
    if (name === 'diff' || name === 'input')
      yield* wrongDiffs.map((diff) => [`diff ${diff}`, put(String(value).replace('@@\n-one\n+1', diff))] as const)
  }
}

const wrongDiffs = ['@@\n-nowhere\n+1', '@@\n-twice\n+1', '@@ none\n-one\n+1', '+x', 'one', '@@', '']

/** Calls that go wrong, or may: made of faces, operations and mistakes. */
export const catalogue: readonly WrongCall[] = faceNames.flatMap((face) => {
  const more: readonly WrongCall[] = [
    { name: `${face}: another tool`, face, tool: 'read_fil', input: {} },
    ...(face === 'file_system' || face === 'split'
      ? [{ command: 'true', id: 'c1' }, { kill: true }, { id: 'c9' }, { id: 'c9', kill: true }, {}].map((input) => {
          return { name: `${face}: execute ${JSON.stringify(input)}`, face, tool: 'execute', input }
        })
      : []),
  ]
  const made = right[face].flatMap((call) =>
    [...mistakes(call)].map(([name, input]) => {
      const [tool, given] = call
      const about = [given['operation'], given['command'], given['type']].find((one) => typeof one === 'string') ?? ''
      return { name: `${face}: ${tool} ${about}: ${name}`, face, tool, input }
    }),
  )
  return [...more, ...made]
})
