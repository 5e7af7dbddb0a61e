export { isOnSlowMount, openBindSource, openBindSources, type BindSource, type WantedSource } from './bind-source.ts'
export {
  doubtOwnMounts,
  type MountEntry,
  type OwnMounts,
  ownMounts,
  parseMountTable,
  readMountInfo,
  isSlowType,
} from './mount-table.ts'
export { offersExtendedAttributes } from './extended-attributes.ts'
export { protectsRepository, viewEnvironment, viewPath, type ViewEnvironmentOptions } from './environment.ts'
export {
  isSystemProgram,
  programEntries,
  systemTree,
  type SystemEntry,
  type SystemTreeOptions,
} from './system-tree.ts'
export {
  checkToolAccess,
  checkToolPlaces,
  isToolWritable,
  resolveTools,
  type ResolvedTool,
  type Tool,
  toolPaths,
  writableToolError,
} from './tools.ts'
export { createOutputChannel, type OutputChannel } from './output-channel.ts'
