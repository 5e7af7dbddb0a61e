export { isOnSlowMount, openBindSource, openBindSources, type BindSource, type WantedSource } from './bind-source.ts'
export { directoryOnTheWay, identityAt } from './host-way.ts'
export { offersExtendedAttributes } from './extended-attributes.ts'
export { protectsRepository, viewEnvironment } from './environment.ts'
export { isSystemProgram, systemTree, type SystemEntry } from './system-tree.ts'
export {
  checkToolAccess,
  checkToolPlaces,
  isToolWritable,
  resolveTools,
  type ResolvedTool,
  type Tool,
  toolNames,
  toolPaths,
  writableToolError,
} from './tools.ts'
