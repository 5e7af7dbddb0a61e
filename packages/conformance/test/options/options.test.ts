import { createLocalAdapter, createScratchAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createRcloneAdapter, openRcloneBucket, orEmpty } from '@ws/adapter-rclone'
import { createR2Adapter, createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import {
  configurePathManager,
  createPathManager,
  createPolicy,
  createWorkspace,
  isWorkspaceError,
  observe,
  prefix,
  readOnly,
  resolvePathManagerOptions,
  rules,
  type WorkspaceError,
} from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createBashFileSystem, createVirtualExecutor } from '@ws/executor-virtual'
import { describe, expect, it } from 'vitest'

import { securitySuite, testAdapter, testCoherence, testExecutor, testWorkspace } from '../../src/index.ts'
import { openMemory } from '../workspace/open.ts'

type Options = Readonly<Record<string, unknown>>

interface Entrance {
  readonly name: string
  /** Calls it; what it makes does not matter. */
  readonly call: (options: never) => unknown
  /** Options that it takes: what is wrong is put over them. */
  readonly right?: Options
  /** Every option there is, each with values that it does not take. */
  readonly wrong: Readonly<Record<string, readonly unknown[]>>
}

const boolean = [1, 'true', null, {}]
const count = [-1, 1.5, '1', Number.NaN, null, {}]
const duration = [0, ...count, 2 ** 31]
const text = ['', ' ', 7, null, {}]
const string = [7, null, {}, []]
const list = ['x', 7, null, {}]
const callable = ['x', 7, null, {}]
const signal = ['x', null, {}, { aborted: false }]
const env = [7, null, 'A=1', { A: 1 }, { 'A-B': '' }, { '1A': '' }, { A: 'x\0' }]
const envNames = ['CI', null, [7], ['A=B'], [''], ['A*B']]
const limits = [7, null, [], { memory: 1 }, { cpuSeconds: 0 }, { memoryBytes: '1' }, { processes: 1.5 }]
const owner = [7, null, {}, { uid: 1000 }, { uid: 0, gid: 0 }, { uid: -1, gid: 1 }, { uid: 1, gid: 1, name: 'x' }]
const hostPath = ['relative/path', '', 7, null, '/a\0b']
const tools = ['x', null, [7], [{}], [{ host: 'relative' }], [{ host: '/usr', to: '/x' }], [{ host: '/usr', at: 7 }]]
const url = ['x', 'ftp://host', 7, null, 'https://']

const shared = { name: text }
const suite = { name: text, create: callable }
const workspaceSuite = {
  ...suite,
  roots: ['/', null, ['/srv']],
  shell: text,
  refusesCommands: boolean,
  departures: [7, null, [], { title: 7 }],
}
const bucket = {
  bucket: text,
  prefix: string,
  readOnly: boolean,
  symlinks: ['on', true, null],
  dialect: [7, null, { etags: 'x' }, { conditionalPut: 1 }, { conditionalputs: true }],
  contentType: text,
  cacheControl: text,
  metadata: ['x', 7, null, { Ä: 'x' }, { a: 7 }, { a: 'ü' }],
  encryption: ['AES256', 7, null, {}, { algorithm: 'none' }, { algorithm: 'AES256', keyId: 'k' }],
  storageClass: text,
  copyPartBytes: [...count, 5 * 1024 ** 2 - 1, 5 * 1024 ** 3 + 1],
  partBytes: [...count, 5 * 1024 ** 2 - 1, 5 * 1024 ** 3 + 1],
  concurrency: [0, ...count, 257],
  attemptTimeout: duration,
  deadline: duration,
  onProblem: callable,
  onProgress: callable,
  client: ['x', null, {}, 7],
  endpoint: url,
  credentials: ['x', null, {}, { accessKeyId: 'a' }, { accessKeyId: '', secretAccessKey: '' }],
  ca: ['x', 7, null, [], ['x']],
}
const s3 = { ...bucket, region: text, forcePathStyle: boolean }
const r2 = { ...bucket, accountId: ['a/b', '', 7, null] }
const rclone = {
  s3: [7, null, {}, { endpoint: 'x', credentials: {} }, { endpoint: 'https://h', credentials: { accessKeyId: 7 } }],
  remote: [7, null, { type: 7 }, { 'a b': 'x' }, { type: 'a\nb' }],
  bucket: ['', 'a:b', 7, null, 'a\nb'],
  prefix: [7, null, 'a\nb'],
  readOnly: boolean,
  owner,
  directory: hostPath,
  mountPoint: hostPath,
  program: hostPath,
  writeBackMs: duration,
  directoryCacheMs: duration,
  attributeCacheMs: [...count, 2 ** 31],
  cacheMaxBytes: [0, ...count],
  operationTimeoutMs: duration,
  flushTimeoutMs: duration,
  startTimeoutMs: duration,
  recovery: ['never', true, null],
  onEvent: callable,
  signal,
}
const rcloneRight = {
  bucket: 'b',
  s3: { endpoint: 'https://127.0.0.1:1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } },
}
const pathManager = {
  workspace: hostPath,
  output: hostPath,
  templates: [7, null, { app_path: 'app' }, { output_path: '/x' }, { app_pth: '/x' }],
  exceptions: ['x', null, [null], [{ name: 'a' }], [{ name: '', path: 'a', justification: 'x' }]],
  realpath: callable,
}
const pathManagerRight = { workspace: '/w', output: '/o' }
const memory = createMemoryAdapter()
const runner = { describe: () => undefined, it: () => undefined } as never

const factories: readonly Entrance[] = [
  {
    name: 'createWorkspace',
    call: createWorkspace,
    right: { mounts: [{ at: '/', adapter: memory }] },
    wrong: {
      mounts: [
        ...[[], {}, null, 'x', [null], [{}], [{ at: 7, adapter: memory }], [{ at: '/' }]],
        ...[[{ at: '/', adapter: {} }], [{ at: '/', adapter: memory, access: 'rw' }]],
        ...[[{ at: '/', adapter: memory, readonly: true }], [{ at: 'relative', adapter: memory }]],
      ],
      rules: [...list, [null], [{ kind: 'subtre', name: 'x' }], [rules.deny]],
      policy: ['x', null, {}, { decide: () => undefined }],
      executors: [...list, [null], [createVirtualExecutor]],
      require: ['all', 7, null, { fileContents: 'kernel' }, { fileContent: 'strong' }],
      aliases: ['x', null, [], { '/a': 7 }, { '/a/b': '/' }],
      scratch: boolean,
      labels: ['x', null, { a: 1 }, { 'a b': 'x' }],
      commands: ['x', null, { timeout: 0 }, { env: { A: 1 } }, { timeoutMs: 5 }],
      signal,
    },
  },
  {
    name: 'createMemoryAdapter',
    call: createMemoryAdapter,
    wrong: { files: ['x', 7, null, [], { '/a': 7 }, { '/a': { b: '' } }, { '/a/': 'x' }], readOnly: boolean },
  },
  {
    name: 'createLocalAdapter',
    call: createLocalAdapter,
    right: { root: '/' },
    wrong: { root: ['', 7, null, 'a\0b'], owner, io: ['sync', true, null] },
  },
  { name: 'createScratchAdapter', call: createScratchAdapter, wrong: { owner, io: ['sync', true, null] } },
  { name: 'createS3Adapter', call: createS3Adapter, right: { bucket: 'b' }, wrong: s3 },
  { name: 'probeS3Dialect', call: probeS3Dialect, right: { bucket: 'b' }, wrong: s3 },
  { name: 'createR2Adapter', call: createR2Adapter, right: { bucket: 'b' }, wrong: r2 },
  { name: 'createRcloneAdapter', call: createRcloneAdapter, right: rcloneRight, wrong: rclone },
  { name: 'openRcloneBucket', call: openRcloneBucket, right: rcloneRight, wrong: rclone },
  {
    name: 'orEmpty',
    call: (options: never) => orEmpty(() => Promise.resolve(memory), options),
    right: { onDegraded: () => undefined },
    wrong: { onDegraded: callable, owner },
  },
  {
    name: 'createBubblewrapExecutor',
    call: createBubblewrapExecutor,
    wrong: {
      network: ['all', true, null],
      unixSockets: ['host', true, null],
      env: envNames,
      scratchBytes: [4095, ...count],
      tools,
      limits,
      cgroup: hostPath,
    },
  },
  {
    name: 'createProotExecutor',
    call: createProotExecutor,
    wrong: {
      env: envNames,
      landlock: ['on', true, null],
      pidNamespace: ['on', true, null],
      tools,
      limits,
      cgroup: hostPath,
    },
  },
  {
    name: 'createSanitizeExecutor',
    call: createSanitizeExecutor,
    wrong: {
      trustPrograms: ['git', 7, null, [7], ['a b'], ['a/b'], ['/a/../b']],
      env: envNames,
      landlock: ['on', true, null],
      limits: [7, null, { memoryBytes: 1 }, { cpuSeconds: -1 }],
    },
  },
  {
    name: 'createVirtualExecutor',
    call: createVirtualExecutor,
    wrong: {
      concurrency: [0, ...count, 257],
      limits: [7, null, { maxComands: 1 }, { maxCommands: 0 }, { maxMemory: 1024 }],
    },
  },
  {
    name: 'createBashFileSystem',
    call: (options: never) => createBashFileSystem({} as never, options),
    wrong: { signal, maxFileBytes: [0, ...count], passable: list },
  },
  { name: 'createPathManager', call: createPathManager, right: pathManagerRight, wrong: pathManager },
  { name: 'configurePathManager', call: configurePathManager, right: pathManagerRight, wrong: pathManager },
  {
    name: 'resolvePathManagerOptions',
    call: resolvePathManagerOptions,
    wrong: { flags: ['x', null], file: ['x', null], defaults: ['x', null] },
  },
  {
    name: 'resolveWrite of a path manager',
    call: (options: never) => createPathManager({ workspace: '/w', output: '/o' }).resolveWrite('a', options),
    wrong: { exception: [7, null, {}] },
  },
  { name: 'createPolicy', call: (options: never) => createPolicy([], options), wrong: { exempt: [7, null] } },
  { name: 'rules.withinWorkspace', call: (options: never) => rules.withinWorkspace('/', options), wrong: shared },
  {
    name: 'rules.withinOutput',
    call: (options: never) => rules.withinOutput('/', options),
    wrong: { ...shared, readable: boolean },
  },
  { name: 'rules.readOnly', call: (options: never) => rules.readOnly('/', options), wrong: shared },
  { name: 'rules.deny', call: (options: never) => rules.deny('/', options), wrong: shared },
  {
    name: 'rules.subtree',
    call: rules.subtree,
    right: { name: 'x', entries: { '/a': 'none' } },
    wrong: { ...shared, entries: [7, null, {}, [], { '/a': 'all' }], reason: text, remedy: text },
  },
  {
    name: 'rules.allow',
    call: (options: never) => rules.allow('/', options),
    right: { justification: 'x' },
    wrong: { ...shared, justification: text, access: ['rw', 7, null], from: ['x', null, [7]] },
  },
  {
    name: 'rules.predicate',
    call: rules.predicate,
    right: { name: 'x', test: () => true },
    wrong: { ...shared, test: callable, reason: text, remedy: text },
  },
  {
    name: 'rules.denyCommand',
    call: (options: never) => rules.denyCommand(['rm'], options),
    right: { parser: () => [] },
    wrong: { ...shared, parser: callable, reason: text, remedy: text },
  },
  { name: 'rules.protectSecrets', call: rules.protectSecrets, wrong: shared },
  { name: 'rules.protectHooks', call: rules.protectHooks, wrong: shared },
  { name: 'rules.denyGlob', call: (options: never) => rules.denyGlob('*.pem', options), wrong: shared },
  { name: 'rules.maxFileSize', call: (options: never) => rules.maxFileSize(1, options), wrong: shared },
  { name: 'rules.onlyExtensions', call: (options: never) => rules.onlyExtensions(['.md'], options), wrong: shared },
  { name: 'prefix', call: (options: never) => prefix(memory, '/a', options), wrong: { shared: boolean } },
  { name: 'readOnly', call: (options: never) => readOnly(memory, options), wrong: { shared: boolean } },
  { name: 'observe', call: (options: never) => observe(memory, () => undefined, options), wrong: { shared: boolean } },
  {
    name: 'testAdapter',
    call: (options: never) => testAdapter(options, runner),
    right: { name: 'x', create: () => undefined },
    wrong: { ...suite, pageSize: [0, ...count], deep: boolean },
  },
  ...[
    { name: 'testCoherence', call: (options: never) => testCoherence(options, runner), wrong: suite },
    { name: 'testExecutor', call: (options: never) => testExecutor(options, runner), wrong: workspaceSuite },
    { name: 'testWorkspace', call: (options: never) => testWorkspace(options, runner), wrong: workspaceSuite },
    { name: 'securitySuite', call: (options: never) => securitySuite(options, runner), wrong: workspaceSuite },
  ].map((entrance) => ({ ...entrance, right: { name: 'x', create: () => undefined } })),
]

const { workspace } = await openMemory({ '/': { '/f': 'x\n' } }, { executors: [createVirtualExecutor()] })
const version = ['', 7, null, {}]
const exec = {
  cwd: string,
  env,
  stdin: [7, null, {}],
  timeout: duration,
  killGrace: [...count, 2 ** 31],
  maxOutputBytes: count,
  limits,
  shell: string,
  login: boolean,
  acknowledge: ['x', null, [7]],
  outputFile: string,
  durable: boolean,
  signal,
}
const move = { overwrite: boolean, ifSource: version, ifDestination: version, parents: boolean, signal }
const { stdin: _stdin, outputFile: _outputFile, durable: _durable, ...both } = exec
const size = [0, ...count, 65_536]
const range = [7, null, {}, { offset: -1 }, { offset: '0' }, { offset: 0, length: -1 }, { offset: 0, end: 1 }]

const methods: readonly Entrance[] = [
  { name: 'stat', call: (options: never) => workspace.stat('/f', options), wrong: { signal } },
  { name: 'exists', call: (options: never) => workspace.exists('/f', options), wrong: { signal } },
  {
    name: 'read',
    call: (options: never) => workspace.read('/f', options),
    wrong: { range, ifVersion: version, maxBytes: count, signal },
  },
  {
    name: 'readText',
    call: (options: never) => workspace.readText('/f', options),
    wrong: { range, ifVersion: version, maxBytes: count, signal },
  },
  {
    name: 'readStream',
    call: (options: never) => workspace.readStream('/f', options),
    wrong: { range, ifVersion: version, signal },
  },
  {
    name: 'readLines',
    call: (options: never) => workspace.readLines('/f', options),
    wrong: { offset: count, limit: count, signal },
  },
  { name: 'readSymlink', call: (options: never) => workspace.readSymlink('/f', options), wrong: { signal } },
  {
    name: 'write',
    call: (options: never) => workspace.write('/w', '', options),
    wrong: { ifVersion: version, parents: boolean, mode: [...count, 0o1000], durable: boolean, signal },
  },
  {
    name: 'append',
    call: (options: never) => workspace.append('/w', '', options),
    wrong: { ifVersion: version, parents: boolean, signal },
  },
  {
    name: 'list',
    call: (options: never) => workspace.list('/', options).next(),
    wrong: { recursive: boolean, exclude: ['x', null, [7]], details: boolean, signal },
  },
  {
    name: 'createDirectory',
    call: (options: never) => workspace.createDirectory('/w', options),
    wrong: { recursive: boolean, signal },
  },
  { name: 'createSymlink', call: (options: never) => workspace.createSymlink('/w', 'f', options), wrong: { signal } },
  {
    name: 'delete',
    call: (options: never) => workspace.delete('/f', options),
    wrong: { recursive: boolean, force: boolean, ifVersion: version, signal },
  },
  { name: 'move', call: (options: never) => workspace.move('/f', '/w', options), wrong: move },
  {
    name: 'copy',
    call: (options: never) => workspace.copy('/f', '/w', options),
    wrong: { ...move, recursive: boolean },
  },
  {
    name: 'search',
    call: (options: never) => workspace.search('x', options).next(),
    wrong: {
      in: string,
      glob: [7, null, {}, [7]],
      regex: boolean,
      caseSensitive: boolean,
      maxHits: count,
      maxFileBytes: count,
      exclude: ['x', null, [7]],
      signal,
    },
  },
  { name: 'exec', call: (options: never) => workspace.exec('touch /w', options), wrong: exec },
  { name: 'spawn', call: (options: never) => workspace.spawn('touch /w', options), wrong: exec },
  {
    name: 'start',
    call: (options: never) => workspace.start('touch /w', options),
    wrong: { ...exec, id: ['a b', 7, null] },
  },
  {
    name: 'openSession',
    call: workspace.openSession.bind(workspace),
    wrong: {
      ...both,
      maxOutputBytes: [0, ...count],
      id: ['a b', 7, null],
      command: [7, null, [], ['']],
      columns: size,
      rows: size,
      idleTimeout: duration,
    },
  },
  {
    name: 'explain',
    call: workspace.explain.bind(workspace),
    right: { operation: 'read', path: '/f' },
    wrong: { operation: ['fly', 7, null], path: [7, null, {}] },
  },
  { name: 'flush', call: workspace.flush.bind(workspace), wrong: { signal } },
]

async function refusalOf(call: () => unknown, what: string): Promise<WorkspaceError> {
  let outcome: unknown
  try {
    outcome = await call()
  } catch (error) {
    if (isWorkspaceError(error)) return error
    throw new Error(`${what}: not a WorkspaceError: ${String(error)}`, { cause: error })
  }
  throw new Error(`${what}: it was taken`, { cause: outcome })
}

const secret = 'S3CR3T'

describe.each([...factories, ...methods])('the options of $name', ({ call, right = {}, wrong }) => {
  const given = (options: unknown) => () => call(options as never)

  it('[RU7] a value of a wrong type or out of range is EINVAL that names the option', async () => {
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const what = `${name}: ${typeof value === 'function' ? 'a function' : JSON.stringify(value)}`
        const { code, message, remedy, stack } = await refusalOf(given({ ...right, [name]: value }), what)
        expect({ what, code }, message).toEqual({ what, code: 'EINVAL' })
        expect(message, what).toMatch(
          name === 'command' ? /command|program/ : new RegExp(`\`${name}|alias|/a/b|relative|the \`id\``),
        )
        expect(remedy, what).toBeTruthy()
        expect(stack).toBeTruthy()
      }
    }
  })

  it('[RU7] a name that is not known is EINVAL, with the one that was probably meant', async () => {
    for (const name of Object.keys(wrong)) {
      const near = `${name}${name.at(-1)}`
      const { code, reason, remedy } = await refusalOf(given({ ...right, [near]: 1 }), near)
      expect({ code, reason }).toEqual({ code: 'EINVAL', reason: `\`${near}\` is not an option` })
      expect(remedy).toMatch(/^did you mean `\w+`\?$/)
    }
    const { code, remedy } = await refusalOf(given({ ...right, zzqqxx: secret }), 'zzqqxx')
    expect(code).toBe('EINVAL')
    for (const name of Object.keys(wrong)) expect(remedy).toContain(`\`${name}\``)
  })

  it('[RU7] what is not an object is EINVAL, and so is a required option that is missing', async () => {
    for (const options of [null, 7, 'x', true, []]) {
      const { code, reason } = await refusalOf(given(options), JSON.stringify(options))
      expect({ code, reason }).toEqual({
        code: 'EINVAL',
        reason: expect.stringMatching(/^`(?:options|request)` must be an object, got /),
      })
    }
    for (const name of Object.keys(right)) {
      if (name === 's3') continue
      const { [name]: _missing, ...rest } = right
      const { code, reason } = await refusalOf(given(rest), `without ${name}`)
      expect({ code, reason }).toEqual({
        code: 'EINVAL',
        reason: expect.stringMatching(new RegExp(`^\`${name}\` must be .*, got nothing$`)),
      })
    }
  })
})

it('[RU7] nothing was done by calls with wrong options', async () => {
  const names: string[] = []
  for await (const { path } of workspace.list('/', { recursive: true })) names.push(path)
  expect(names).toEqual(['/f'])
  expect(await workspace.readText('/f')).toBe('x\n')
})

it('[RU7] a secret or a path of this machine is never shown', async () => {
  const values: readonly (() => unknown)[] = [
    () => createS3Adapter({ bucket: 'b', credentials: { accessKeyId: secret } as never }),
    () => createS3Adapter({ bucket: 'b', credentials: secret as never }),
    () => createS3Adapter({ bucket: 'b', endpoint: `ftp://user:${secret}@host` }),
    () => createRcloneAdapter({ bucket: 'b', remote: { type: 's3', secret_access_key: `${secret}\n` } }),
    () => createRcloneAdapter({ bucket: 'b', s3: { endpoint: secret, credentials: secret as never } }),
    () => createLocalAdapter({ root: `/${secret}\0` }),
    () => createBubblewrapExecutor({ cgroup: secret }),
    () => createBubblewrapExecutor({ tools: [{ host: secret }] }),
    () => createPathManager({ workspace: secret, output: '/o' }),
    () => workspace.exec('true', { env: { TOKEN: `${secret}\0` } }),
    () => workspace.exec('true', { stdin: { secret } as never }),
  ]
  for (const call of values) expect(JSON.stringify(await refusalOf(call, String(call)))).not.toContain(secret)
})

it('[RU7] options that exclude one another are EINVAL', async () => {
  const client = { send: () => undefined } as never
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' }
  const values: readonly [() => unknown, RegExp][] = [
    [() => createS3Adapter({ bucket: 'b', client, region: 'auto' } as never), /`region` and `client` are both given/],
    [() => createR2Adapter({ bucket: 'b' } as never), /`accountId`, `endpoint` and `client` are missing/],
    [
      () => createR2Adapter({ bucket: 'b', accountId: 'a', endpoint: 'https://h', credentials } as never),
      /`accountId` and `endpoint` are both given/,
    ],
    [() => createRcloneAdapter({ bucket: 'b' }), /`s3` and `remote` are both missing/],
    [() => createRcloneAdapter({ ...rcloneRight, remote: { type: 'local' } }), /`s3` and `remote` are both given/],
  ]
  for (const [call, says] of values) {
    const { code, reason } = await refusalOf(call, String(call))
    expect({ code, reason }).toEqual({ code: 'EINVAL', reason: expect.stringMatching(says) })
  }
})
