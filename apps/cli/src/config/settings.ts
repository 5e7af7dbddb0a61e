import { resolve } from 'node:path'

import { quotePath, rules, type Owner, type Requirement, type Rule } from '@ws/core'

import { UsageError } from '../errors.ts'
import { defaultExecutorNames, type ExecutorName, type ExecutorOptions } from './executors.ts'
import type { LoadedConfig } from './load.ts'
import type { RuleConfig } from './schema.ts'
import { usageOf } from './usage.ts'
import { checkMountPoint, parseExecutorName, parseOwner, parseRequirement } from './values.ts'

/** The global options as they were typed. */
export interface GlobalOptions {
  readonly root?: string
  readonly at?: string
  readonly owner?: string
  readonly config?: string
  readonly json?: true
  readonly executor?: string
  readonly require?: readonly string[]
}

export interface MountSettings {
  readonly at: string
  /** A host path. */
  readonly root: string
  /** As it was typed, for messages. */
  readonly shown: string
  readonly access?: 'read-write' | 'read-only' | undefined
}

/** What a workspace is opened with: flags over file over defaults (PM1). */
export interface Settings {
  readonly mounts: readonly MountSettings[]
  readonly owner: Owner | undefined
  readonly rules: readonly Rule[]
  readonly executors: readonly ExecutorName[]
  readonly executorOptions: ExecutorOptions
  readonly require: Requirement | undefined
  readonly aliases: Readonly<Record<string, string>> | undefined
}

/** Resolves options and config file without touching the workspace. Throws UsageError. */
export async function resolveSettings(options: GlobalOptions): Promise<Settings> {
  const config = options.config === undefined ? undefined : await load(options.config)
  const mounts = resolveMounts(options, config)
  return {
    mounts,
    owner: resolveOwner(options, config),
    rules: (config?.rules ?? []).map((rule, index) => usageOf(`--config: rules[${index}]`, () => makeRule(rule))),
    executors:
      options.executor === undefined
        ? (config?.executors ?? defaultExecutorNames)
        : [parseExecutorName(options.executor, '--executor')],
    executorOptions: resolveExecutorOptions(config),
    require: parseRequirement(options.require ?? [], '--require') ?? config?.require,
    aliases: config?.aliases,
  }
}

/** What checks config files takes longer to load than most commands to run. */
async function load(file: string): Promise<LoadedConfig> {
  const { loadConfig } = await import('./load.ts')
  return await loadConfig(file)
}

/** `--root` and `--at` replace the directory and the place of the first mount; the others stay. */
function resolveMounts(options: GlobalOptions, config: LoadedConfig | undefined): MountSettings[] {
  if (options.root !== undefined && (options.root === '' || options.root.includes('\0'))) {
    throw new UsageError(`--root: ${quotePath(options.root)} is no directory name; give the workspace's directory`)
  }
  const [first, ...others] = (config?.mounts ?? []).map(
    (mount, index): MountSettings => ({
      at: checkMountPoint(mount.at, `--config: mounts[${index}].at`),
      root: resolve(config?.directory ?? '.', mount.root),
      shown: mount.root,
      access: mount.access,
    }),
  )
  if (options.root === undefined && first === undefined) return []
  const at = options.at === undefined ? (first?.at ?? '/') : checkMountPoint(options.at, '--at')
  const root = options.root === undefined ? first : { root: resolve(options.root), shown: options.root }
  if (root === undefined) return []
  return [{ access: first?.access, root: root.root, shown: root.shown, at }, ...others]
}

/** Directories of tools are relative to the file that names them. */
function resolveExecutorOptions(config: LoadedConfig | undefined): ExecutorOptions {
  const { bubblewrap, proot, sanitize } = config?.executorOptions ?? {}
  const toolsOf = (options: NonNullable<typeof proot>) =>
    options.tools?.map(({ host, at }) => ({ host: resolve(config?.directory ?? '.', host), at }))
  return {
    bubblewrap: bubblewrap && { ...bubblewrap, tools: toolsOf(bubblewrap) },
    proot: proot && { ...proot, tools: toolsOf(proot) },
    sanitize: sanitize && { ...sanitize, limits: ofProcesses(sanitize.limits) },
  }
}

/** It is address space that is limited. */
function ofProcesses(limits: { readonly memoryBytes?: number | undefined } | undefined) {
  if (limits === undefined) return undefined
  const { memoryBytes: addressSpaceBytes, ...others } = limits
  return { ...others, addressSpaceBytes }
}

function resolveOwner(options: GlobalOptions, config: LoadedConfig | undefined): Owner | undefined {
  if (options.owner !== undefined) return parseOwner(options.owner, '--owner')
  return typeof config?.owner === 'string' ? parseOwner(config.owner, '--config: owner') : config?.owner
}

function makeRule(config: RuleConfig): Rule {
  const { path, name } = config
  switch (config.rule) {
    case 'withinWorkspace':
      return rules.withinWorkspace(path, { name })
    case 'withinOutput':
      return rules.withinOutput(path, { name, readable: config.readable })
    case 'readOnly':
      return rules.readOnly(path, { name })
    case 'deny':
      return rules.deny(path, { name })
    case 'allow':
      return rules.allow(path, {
        name,
        access: config.access,
        from: config.from,
        justification: config.justification,
      })
  }
}
