import { type Guarantees, noGuarantees } from '@ws/core/executor'

/** A boundary that the probe tried to cross. */
export const boundaries = ['read', 'write', 'see', 'network', 'socket', 'signal', 'read-only', 'denied'] as const

export interface Seen {
  readonly platform: NodeJS.Platform
  /** The boundaries that held in the probe. */
  readonly held: readonly (typeof boundaries)[number][]
}

/**
 * The guarantees are those that the probe saw hold on this machine:
 * - rules inside a mount: `translated`, since the library finds paths by name, and another command could rename them before the start;
 * - existence, size and times of files, and processes: none on macOS, where a command has no namespace of its own.
 */
export function guaranteesOf({ platform, held }: Seen): Guarantees {
  const isLinux = platform === 'linux'
  const holds = (...names: readonly (typeof boundaries)[number][]) => names.every((name) => held.includes(name))
  return {
    ...noGuarantees,
    fileContent: holds('read', 'write') ? 'kernel' : 'none',
    fileMetadata: isLinux && holds('see') ? 'kernel' : 'none',
    sockets: holds('socket') ? 'kernel' : 'none',
    network: holds('network') ? 'kernel' : 'none',
    processes: isLinux && holds('signal') ? 'kernel' : 'none',
    readOnlyMounts: holds('read-only') ? 'kernel' : 'none',
    subtrees: holds('read-only') ? 'translated' : 'none',
    deniedSubtrees: holds('denied') ? 'translated' : 'none',
  }
}
