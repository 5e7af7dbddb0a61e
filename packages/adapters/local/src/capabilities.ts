import { paths } from '@ws/core'
import type { DriverCapabilities } from '@ws/core/adapter'

interface CapabilityFacts {
  /** Canonical host path. Its length reduces the length of possible paths. */
  readonly root: string
  readonly verified: boolean
  readonly caseSensitive: boolean
}

/** Room for the root's descriptor name, and the kernel's suffix of a deleted name. */
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
