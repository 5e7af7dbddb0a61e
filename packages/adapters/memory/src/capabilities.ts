import { paths } from '@ws/core'
import type { DriverCapabilities } from '@ws/core/adapter'

const capabilities: DriverCapabilities = Object.freeze({
  readOnly: false,
  atomicMove: true,
  atomicDirectoryMove: true,
  enforcesHierarchy: true,
  keepsEmptyDirectories: true,
  modes: true,
  caseSensitive: true,
  controlCharacters: true,
  uniqueVersions: true,
  inProcess: true,
  conditionalWrite: 'server',
  conditionalDelete: 'server',
  conditionalMove: 'server',
  confinement: 'inherent',
  maxStaleness: 0,
  maxNameBytes: paths.maxNameBytes,
  maxPathBytes: paths.maxPathBytes,
})

const readOnlyCapabilities: DriverCapabilities = Object.freeze({ ...capabilities, readOnly: true })

export function capabilitiesOf(readOnly: boolean): DriverCapabilities {
  return readOnly ? readOnlyCapabilities : capabilities
}
