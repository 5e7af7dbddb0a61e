import { type AdapterCapabilities, maxNameBytes, maxPathBytes } from '@ws/core/adapter'

const capabilities: AdapterCapabilities = Object.freeze({
  readOnly: false,
  append: true,
  symlinks: true,
  search: true,
  flush: false,
  hostPath: false,
  atomicMove: true,
  atomicDirectoryMove: true,
  enforcesHierarchy: true,
  keepsEmptyDirectories: true,
  modes: true,
  caseSensitive: true,
  controlCharacters: true,
  uniqueVersions: true,
  conditionalWrite: 'server',
  conditionalDelete: 'server',
  conditionalMove: 'server',
  confinement: 'inherent',
  maxStaleness: 0,
  maxNameBytes,
  maxPathBytes,
})

const readOnlyCapabilities: AdapterCapabilities = Object.freeze({ ...capabilities, readOnly: true })

/** The capabilities of an adapter whose files live in the memory of this process. */
export function capabilitiesOf(readOnly: boolean): AdapterCapabilities {
  return readOnly ? readOnlyCapabilities : capabilities
}
