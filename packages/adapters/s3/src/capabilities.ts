import type { DriverCapabilities } from '@ws/core/adapter'
import type { StartFacts } from './dialect.ts'
import type { KeySpace } from './keys/key-space.ts'

export interface CapabilityFacts {
  readonly dialect: StartFacts
  readonly keys: KeySpace
  readonly readOnly: boolean
}

export function capabilitiesOf({ dialect, keys, readOnly }: CapabilityFacts): DriverCapabilities {
  const { conditionalPut, conditionalDelete, conditionalCopySource, conditionalCopyDestination } = dialect
  const moves = conditionalDelete && conditionalCopySource && conditionalCopyDestination
  const scope = (byServer: boolean): DriverCapabilities['conditionalMove'] => (byServer ? 'server' : 'process')
  return Object.freeze({
    readOnly,
    atomicMove: false,
    atomicDirectoryMove: false,
    enforcesHierarchy: false,
    keepsEmptyDirectories: false,
    modes: false,
    caseSensitive: !dialect.normalisesKeys,
    controlCharacters: dialect.controlCharacters,
    uniqueVersions: false,
    conditionalWrite: conditionalPut ? 'server' : 'none',
    conditionalDelete: scope(conditionalDelete),
    conditionalMove: scope(moves),
    confinement: 'inherent',
    maxStaleness: 0,
    maxNameBytes: keys.maxNameBytes,
    maxPathBytes: keys.maxPathBytes,
  })
}
