export type {
  Facts,
  Invocation,
  ListedEntry,
  Listing,
  Tool,
  ToolContext,
  ToolFiles,
  ToolHost,
  ToolResult,
} from './contract.ts'
export * from './files.ts'
export { pathOf, wordsOf } from './operands.ts'
export { type Arguments, parseArguments } from './options.ts'
export { bytesOf, Output, outputOf } from './output.ts'
export { type CommandRule, refusalOf, type RefusedCommand } from './rule.ts'
export { limitPrograms } from './tools/jq.ts'
export { shellTools } from './tools.ts'
