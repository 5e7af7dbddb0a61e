export {
  type BindSource,
  isOnSlowMount,
  offersExtendedAttributes,
  openBindSource,
  openBindSources,
  type WantedSource,
} from './bind-source.ts'
export { directoryOnTheWay, identityAt } from './host-way.ts'
export { protectsRepository, viewEnvironment } from './environment.ts'
export { isSystemProgram, systemTree, type SystemEntry } from './system-tree.ts'
export {
  checkToolAccess,
  checkToolPlaces,
  refuseWritableTools,
  resolveTools,
  type ResolvedTool,
  type Tool,
  toolNames,
  toolPaths,
} from './tools.ts'
