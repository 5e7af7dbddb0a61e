import { createVirtualExecutor } from '@ws/executor-virtual'

import { openMemory } from '@ws/tests-files'
import { boolean, callable, count, duration, string, signal, env, limits } from './wrong.ts'
import type { Entrance } from './wrong.ts'

export const { workspace } = await openMemory({ '/': { '/f': 'x\n' } }, { executors: [createVirtualExecutor()] })
const version = ['', 7, null, {}]
const exec = {
  cwd: string,
  env,
  stdin: [7, null, {}],
  writableStdin: boolean,
  onOutput: callable,
  timeout: duration,
  killGrace: [...count, 2 ** 31],
  maxOutputBytes: count,
  limits,
  shell: string,
  login: boolean,
  acknowledge: ['x', null, [7]],
  durable: boolean,
  signal,
}
const move = { overwrite: boolean, ifSource: version, ifDestination: version, parents: boolean, signal }
const { stdin: _stdin, writableStdin: _writableStdin, onOutput: _onOutput, durable: _durable, ...both } = exec
const size = [0, ...count, 65_536]
const range = [
  ...[7, null, {}, { offset: -1 }, { offset: '0' }, { offset: 0, length: -1 }, { offset: 0, end: 1 }, { length: 1 }],
  ...[{ last: -1 }, { last: '1' }, { offset: 0, last: 1 }, { last: 1, length: 1 }],
]

export const methods: readonly Entrance[] = [
  { name: 'stat', call: (options: never) => workspace.stat('/f', options), wrong: { followLinks: boolean, signal } },
  {
    name: 'exists',
    call: (options: never) => workspace.exists('/f', options),
    wrong: { followLinks: boolean, signal },
  },
  { name: 'realPath', call: (options: never) => workspace.realPath('/f', options), wrong: { signal } },
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
    wrong: { offset: count, limit: count, last: count, signal },
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
    wrong: { recursive: boolean, exclude: ['x', null, [7]], details: boolean, maxDepth: [0, ...count], signal },
  },
  {
    name: 'edit',
    call: (options: never) => workspace.edit('/f', { oldText: 'x', newText: 'y' }, options),
    wrong: { ifVersion: version, timeout: [...count, 2 ** 31], signal },
  },
  {
    name: 'glob',
    call: (options: never) => workspace.glob('*', options).next(),
    wrong: {
      in: string,
      exclude: ['x', null, [7]],
      includeHidden: boolean,
      maxMatches: count,
      signal,
    },
  },
  {
    name: 'createDirectory',
    call: (options: never) => workspace.createDirectory('/w', options),
    wrong: { recursive: boolean, signal },
  },
  { name: 'createSymlink', call: (options: never) => workspace.createSymlink('/w', 'f', options), wrong: { signal } },
  { name: 'chmod', call: (options: never) => workspace.chmod('/f', 0o600, options), wrong: { signal } },
  {
    name: 'utimes',
    call: (options: never) => workspace.utimes('/f', { modifiedAt: 1 }, options),
    wrong: { signal },
  },
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
