export { openBindSource, type BindSource, type OpenBindSourceOptions } from './bind-source.ts'
export { viewEnvironment, viewPath, type ViewEnvironmentOptions } from './environment.ts'
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
