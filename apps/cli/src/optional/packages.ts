/** Packages that users install themselves, or a door of one, with the types of their modules. */
export interface OptionalPackages {
  '@ws/adapter-rclone': typeof import('@ws/adapter-rclone')
  '@ws/adapter-replica': typeof import('@ws/adapter-replica')
  '@ws/adapter-s3': typeof import('@ws/adapter-s3')
  '@ws/conformance': typeof import('@ws/conformance')
  '@ws/executor-machine/container': typeof import('@ws/executor-machine/container')
  '@ws/executor-sandbox-runtime': typeof import('@ws/executor-sandbox-runtime')
  '@ws/executor-virtual': typeof import('@ws/executor-virtual')
  '@ws/mcp-server': typeof import('@ws/mcp-server')
  '@ws/runner': typeof import('@ws/runner')
  '@ws/snapshots': typeof import('@ws/snapshots')
  '@ws/threads': typeof import('@ws/threads')
}

export type ContainerOptions = import('@ws/executor-machine/container').ContainerExecutorOptions
export type SandboxRuntimeOptions = import('@ws/executor-sandbox-runtime').SandboxRuntimeExecutorOptions

export type OptionalName = keyof OptionalPackages

export const optionalPackages: Readonly<Record<OptionalName, string>> = {
  '@ws/adapter-rclone': 'buckets mounted by rclone',
  '@ws/adapter-replica': 'a copy of a bucket in which programs work',
  '@ws/adapter-s3': 'files in S3 and R2',
  '@ws/conformance': '`ws verify`',
  '@ws/executor-machine/container': 'commands in containers',
  '@ws/executor-sandbox-runtime': 'commands on macOS',
  '@ws/executor-virtual': 'commands in an interpreter',
  '@ws/mcp-server': '`ws mcp`',
  '@ws/runner': '`ws run`',
  '@ws/snapshots': 'checkpoints and the way back',
  '@ws/threads': '`ws thread`',
}

/** Executors in packages of their own, by name. */
export const executorPackages = [
  ['container', '@ws/executor-machine/container'],
  ['sandbox-runtime', '@ws/executor-sandbox-runtime'],
  ['virtual', '@ws/executor-virtual'],
] as const satisfies readonly (readonly [string, OptionalName])[]

export const optionalNames = Object.keys(optionalPackages) as readonly OptionalName[]

/** Returns the package that has a door. */
export const packageOf = (name: OptionalName): string => name.split('/').slice(0, 2).join('/')

/** Optional packages that a command needs are not installed beside `ws`. */
export class MissingPackagesError extends Error {
  override readonly name = 'MissingPackagesError'
  readonly packages: readonly OptionalName[]

  constructor(packages: readonly OptionalName[]) {
    super(`not installed: ${packages.map(packageOf).join(', ')}`)
    this.packages = packages
  }
}

export interface Called {
  readonly command: string
  readonly options: {
    readonly s3?: string
    readonly replica?: string
    readonly rclone?: string
    readonly executor?: string
  }
}

export function describeMissing(packages: readonly OptionalName[], { command, options }: Called): string {
  const flags = [
    packages.includes('@ws/adapter-s3') && options.s3 !== undefined ? ' --s3' : '',
    packages.includes('@ws/adapter-replica') && options.replica !== undefined ? ' --replica' : '',
    packages.includes('@ws/adapter-rclone') && options.rclone !== undefined ? ' --rclone' : '',
    ...executorPackages.map(([name, needed]) =>
      packages.includes(needed) && options.executor === name ? ` --executor ${name}` : '',
    ),
  ]
  const called = `\`${`ws ${command}`.trim()}${flags.join('')}\``
  const named = packages.map((name) => {
    const use = optionalPackages[name]
    return use === `\`ws ${command.split(' ', 1)[0]}\`` ? `\`${packageOf(name)}\`` : `\`${packageOf(name)}\` (${use})`
  })
  const state = packages.length === 1 ? 'which is not installed beside `ws`' : 'which are not installed beside `ws`'
  return `${called} needs ${named.join(' and ')}, ${state}; ${howToPack(packages)}`
}

/** Instructions to pack and install packages: on the registry, names with `@ws/` belong to other people. */
export function howToPack(packages: readonly OptionalName[]): string {
  const command = `npm run pack -- DIR ${packages.map(packageOf).join(' ')}`
  return `run \`${command}\` in a clone of the repository, where DIR is the directory whose \`node_modules\` holds \`ws\``
}
