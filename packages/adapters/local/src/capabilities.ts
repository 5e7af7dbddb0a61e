import { paths } from '@ws/core'
import type { DriverCapabilities } from '@ws/core/adapter'

interface CapabilityFacts {
  /** Canonical host path. Its length reduces the length of possible paths. */
  readonly root: string
  readonly verified: boolean
  readonly caseSensitive: boolean
}

/** Bytes kept free for the path of the root's descriptor, and for the suffix that the kernel adds to a deleted name. */
const reservedPathBytes = 32

export function capabilitiesOf({ root, verified, caseSensitive }: CapabilityFacts): DriverCapabilities {
  return {
    readOnly: false,
    atomicMove: true,
    atomicDirectoryMove: true,
    enforcesHierarchy: true,
    keepsEmptyDirectories: true,
    modes: true,
    caseSensitive,
    controlCharacters: true,
    uniqueVersions: true,
    conditionalWrite: 'process',
    conditionalDelete: 'process',
    conditionalMove: 'process',
    confinement: verified ? 'verified' : 'checked',
    maxStaleness: 0,
    maxNameBytes: paths.maxNameBytes,
    maxPathBytes: paths.maxPathBytes - Math.max(Buffer.byteLength(root), reservedPathBytes) - reservedPathBytes,
  }
}
