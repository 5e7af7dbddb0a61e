import { createLocalAdapter, createScratchAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createRcloneAdapter, openRcloneBucket, orEmpty } from '@ws/adapter-rclone'
import { createR2Adapter, createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import {
  configurePathManager,
  createPathManager,
  createWorkspace,
  observe,
  prefix,
  readOnly,
  resolvePathManagerOptions,
  rules,
} from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createBashFileSystem } from '@ws/executor-virtual/just-bash'

import { securitySuite, testAdapter, testCoherence, testExecutor, testWorkspace } from '@ws/conformance'
import {
  boolean,
  callable,
  count,
  envNames,
  hostPath,
  limits,
  list,
  owner,
  pathManager,
  pathManagerRight,
  r2,
  rclone,
  rcloneRight,
  s3,
  signal,
  text,
  tools,
} from './wrong.ts'
import type { Entrance } from './wrong.ts'

const shared = { name: text }
const suite = { name: text, create: callable }
const workspaceSuite = {
  ...suite,
  roots: ['/', null, ['/srv']],
  shell: text,
  refusesCommands: boolean,
  departures: [7, null, [], { title: 7 }],
}
const memory = createMemoryAdapter()
const runner = { describe: () => undefined, it: () => undefined } as never

export const factories: readonly Entrance[] = [
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
    wrong: { signal, maxFileBytes: [0, ...count] },
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
