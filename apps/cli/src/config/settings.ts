import { resolve } from 'node:path'

import { rules, type CommandDefaults, type Rule } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { hostLists, type Requirement } from '@ws/core/executor'
import type { ToolsOptions } from '@ws/tools'

import { hasDirectory } from '../storage/settings.ts'
import {
  defaultExecutorNames,
  executorNamesWithoutDirectory,
  type ExecutorName,
  type ExecutorOptions,
} from './executors.ts'
import type { FoundWorkspace } from './find.ts'
import type { LoadedConfig } from './load.ts'
import { atOwnPath, defaultPlace, resolveMounts, type MountFlags, type MountSettings } from './mounts.ts'
import { withVariables } from './requests.ts'
import type { RuleConfig } from './schema.ts'
import { UsageError } from '../errors.ts'
import { usageOf } from '../usage.ts'
import { parseExecutorName, parseOwner, parseRequirement } from './values.ts'

export interface GlobalOptions extends MountFlags {
  readonly owner?: string
  readonly config?: string
  readonly json?: true
  readonly executor?: string
  readonly require?: readonly string[]
  readonly allowHost?: readonly string[]
}

/** Settings of a call. Flags override the config file, which overrides defaults (PM1). */
export interface Settings {
  /** The config file, without parts that options replaced. */
  readonly config: LoadedConfig | undefined
  readonly mounts: readonly MountSettings[]
  readonly owner: Owner | undefined
  readonly rules: readonly Rule[]
  readonly executors: readonly ExecutorName[]
  readonly executorOptions: ExecutorOptions
  readonly require: Requirement | undefined
  readonly aliases: Readonly<Record<string, string>> | undefined
  readonly commands: CommandDefaults | undefined
  readonly downloads: ToolsOptions['downloads']
}

export async function resolveSettings(
  given: GlobalOptions,
  found: FoundWorkspace = {},
  place: string = defaultPlace,
): Promise<Settings> {
  const options = found.root === undefined ? given : { ...given, root: found.root }
  const config = await load(options.config, found.config)
  const placed = resolveMounts(options, config, place)
  const executorOptions = withHosts(resolveExecutorOptions(config), options)
  const executors = resolveExecutors(options, config, { mounts: placed, executorOptions })
  const isNamed = options.at !== undefined || config?.mounts !== undefined
  const mounts = isNamed || !executors.includes('sandbox-runtime') ? placed : placed.map(atOwnPath)
  const settings = {
    config,
    mounts,
    owner: resolveOwner(options, config),
    rules: (config?.rules ?? []).map((rule, index) => usageOf(`--config: rules[${index}]`, () => makeRule(rule))),
    executors,
    executorOptions,
    require: parseRequirement(options.require ?? [], '--require') ?? config?.require,
    aliases: config?.aliases,
    commands: config?.commands,
    downloads: resolveDownloads(config, { executors, executorOptions }),
  }
  if (config !== undefined) {
    const { refuseExchangeable, refuseOtherRoot } = await import('./host-paths.ts')
    if (found.config !== undefined && given.root !== undefined) refuseOtherRoot(config, given.root)
    refuseExchangeable(config, settings)
  }
  return settings
}

/** Hosts for downloads. Default: the hosts of commands. Rules for requests apply only to commands. */
function resolveDownloads(
  config: LoadedConfig | undefined,
  { executors, executorOptions }: Pick<Settings, 'executors' | 'executorOptions'>,
): Settings['downloads'] {
  const given = config?.downloads
  const { hosts } = given || {}
  if (Array.isArray(hosts))
    usageOf('--config: downloads', () => hostLists.read(hosts, { operation: 'open', option: 'hosts' }))
  const network = executors.includes('bubblewrap') ? executorOptions.bubblewrap?.network : undefined
  if (given !== undefined || typeof network !== 'object') return given
  const { allow, addresses, requests } = network
  return requests === undefined ? { hosts: allow, addresses } : undefined
}

/** Selects executors. With a list of hosts, excludes executors that use this machine's network. */
function resolveExecutors(
  { executor, allowHost }: GlobalOptions,
  config: LoadedConfig | undefined,
  { mounts, executorOptions }: Pick<Settings, 'mounts' | 'executorOptions'>,
): readonly ExecutorName[] {
  const named = executor === undefined ? config?.executors : [parseExecutorName(executor, '--executor')]
  const without = allowHost && named?.find((name) => name !== 'bubblewrap')
  if (without !== undefined) {
    throw new UsageError(`--allow-host: ${without} cannot hold a list of hosts; give --executor bubblewrap`)
  }
  const holdsList = typeof executorOptions.bubblewrap?.network === 'object'
  return named ?? (holdsList ? ['bubblewrap'] : defaultExecutorsOf(mounts))
}

/** Replaces the file's hosts with those of the command line. The file's limits remain. */
function withHosts(options: ExecutorOptions, { allowHost: allow }: GlobalOptions): ExecutorOptions {
  if (allow === undefined) return options
  usageOf('--allow-host', () => hostLists.read(allow, { operation: 'network', option: 'allow' }))
  const network = options.bubblewrap?.network
  const others = typeof network === 'object' ? network : {}
  return { ...options, bubblewrap: { ...options.bubblewrap, network: { ...others, allow } } }
}

/** Default executors. Programs need a directory for every mount; without directories, only the interpreter is possible. */
function defaultExecutorsOf(mounts: readonly MountSettings[]): readonly ExecutorName[] {
  return mounts.every(({ storage }) => hasDirectory(storage)) ? defaultExecutorNames : executorNamesWithoutDirectory
}

/** Loads the config file. The code that checks config files is loaded on demand: loading takes longer than most commands. */
async function load(named: string | undefined, found: string | undefined): Promise<LoadedConfig | undefined> {
  if (named === undefined && found === undefined) return undefined
  const { loadConfig, loadFoundConfig } = await import('./load.ts')
  return named === undefined ? await loadFoundConfig(found ?? '') : await loadConfig(named)
}

type NetworkConfig = NonNullable<NonNullable<LoadedConfig['executorOptions']>['bubblewrap']>['network']

function networkOf(network: NetworkConfig): NonNullable<ExecutorOptions['bubblewrap']>['network'] {
  if (typeof network !== 'object' || network.requests === undefined) return network
  return { ...network, requests: withVariables(network.requests) }
}

/** Resolves executor options. Directories of tools are relative to the config file. */
function resolveExecutorOptions(config: LoadedConfig | undefined): ExecutorOptions {
  const { bubblewrap, container, proot, 'sandbox-runtime': runtime, sanitize } = config?.executorOptions ?? {}
  const toolsOf = (options: Pick<NonNullable<typeof proot>, 'tools'>) =>
    options.tools?.map(({ host, at }) => ({ host: resolve(config?.directory ?? '.', host), at }))
  return {
    bubblewrap: bubblewrap && { ...bubblewrap, network: networkOf(bubblewrap.network), tools: toolsOf(bubblewrap) },
    container,
    proot: proot && { ...proot, tools: toolsOf(proot) },
    'sandbox-runtime': runtime && { ...runtime, tools: toolsOf(runtime) },
    sanitize: sanitize && { ...sanitize, limits: ofProcesses(sanitize.limits) },
  }
}

/** Converts limits of an executor. The memory limit becomes a limit of the address space. */
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
  const { name } = config
  switch (config.rule) {
    case 'withinWorkspace':
      return rules.withinWorkspace(config.path, { name })
    case 'withinOutput':
      return rules.withinOutput(config.path, { name, readable: config.readable })
    case 'readOnly':
      return rules.readOnly(config.path, { name })
    case 'deny':
      return rules.deny(config.path, { name })
    case 'denyGlob':
      return rules.denyGlob(config.glob, { name })
    case 'ask': {
      const { rule: _, globs, ...options } = config
      return rules.ask(globs, options)
    }
    case 'askHosts': {
      const { rule: _, hosts, ...options } = config
      return rules.askHosts(hosts, options)
    }
    case 'allowHosts':
      return rules.allowHosts(config.hosts, { name })
    case 'publish':
      return rules.publish(config.ports, { name })
    case 'protectSecrets':
      return rules.protectSecrets({ name })
    case 'protectHooks':
      return rules.protectHooks({ name })
    case 'allow':
      return rules.allow(config.path, {
        name,
        access: config.access,
        from: config.from,
        justification: config.justification,
      })
  }
}
