export type Options = Readonly<Record<string, unknown>>

export interface Entrance {
  readonly name: string
  /** Calls it; what it makes does not matter. */
  readonly call: (options: never) => unknown
  /** Options that it takes: what is wrong is put over them. */
  readonly right?: Options
  /** Every option there is, each with values that it does not take. */
  readonly wrong: Readonly<Record<string, readonly unknown[]>>
}

export const boolean = [1, 'true', null, {}]
export const count = [-1, 1.5, '1', Number.NaN, null, {}]
export const duration = [0, ...count, 2 ** 31]
export const text = ['', ' ', 7, null, {}]
export const string = [7, null, {}, []]
export const list = ['x', 7, null, {}]
export const callable = ['x', 7, null, {}]
export const signal = ['x', null, {}, { aborted: false }]
export const env = [7, null, 'A=1', { A: 1 }, { 'A-B': '' }, { '1A': '' }, { A: 'x\0' }]
export const envNames = ['CI', null, [7], ['A=B'], [''], ['A*B']]
export const limits = [7, null, [], { memory: 1 }, { cpuSeconds: 0 }, { memoryBytes: '1' }, { processes: 1.5 }]
export const owner = [
  7,
  null,
  {},
  { uid: 1000 },
  { uid: 0, gid: 0 },
  { uid: -1, gid: 1 },
  { uid: 1, gid: 1, name: 'x' },
]
export const hostPath = ['relative/path', '', 7, null, '/a\0b']
export const tools = [
  'x',
  null,
  [7],
  [{}],
  [{ host: 'relative' }],
  [{ host: '/usr', to: '/x' }],
  [{ host: '/usr', at: 7 }],
]
export const url = ['x', 'ftp://host', 7, null, 'https://']

const credentials = [
  'x',
  null,
  {},
  { accessKeyId: 'a' },
  { accessKeyId: '', secretAccessKey: '' },
  { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 7 },
]
/** The same for each adapter that speaks S3. */
const connection = { endpoint: url, region: text, credentials, forcePathStyle: boolean }

export const bucket = {
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
  ca: ['x', 7, null, [], ['x']],
}
export const s3 = { ...bucket, ...connection }
export const r2 = { ...bucket, endpoint: url, credentials, accountId: ['a/b', '', 7, null] }
export const rclone = {
  ...connection,
  provider: text,
  remote: [7, null, { type: 7 }, { 'a b': 'x' }, { type: 'a\nb' }],
  bucket: ['', 'a:b', 7, null, 'a\nb'],
  prefix: [7, null, 'a\nb'],
  readOnly: boolean,
  owner,
  directory: hostPath,
  mountPoint: hostPath,
  program: hostPath,
  maxCacheBytes: [0, ...count],
  timeouts: [
    7,
    null,
    ...['writeBack', 'directoryCache', 'operation', 'flush', 'start', 'x'].map((name) => ({ [name]: 0 })),
    ...[-1, 1.5, 2 ** 31].map((attributeCache) => ({ attributeCache })),
  ],
  recovery: ['never', true, null],
  onEvent: callable,
  signal,
}
export const rcloneRight = {
  bucket: 'b',
  endpoint: 'https://127.0.0.1:1',
  credentials: { accessKeyId: 'a', secretAccessKey: 's' },
}
export const pathManager = {
  workspace: hostPath,
  output: hostPath,
  templates: [7, null, { app_path: 'app' }, { output_path: '/x' }, { app_pth: '/x' }],
  exceptions: ['x', null, [null], [{ name: 'a' }], [{ name: '', path: 'a', justification: 'x' }]],
  realpath: callable,
}
export const pathManagerRight = { workspace: '/w', output: '/o' }
