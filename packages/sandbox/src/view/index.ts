export { isOnSlowMount, openBindSource, openBindSources, type BindSource, type WantedSource } from './bind-source.ts'
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
