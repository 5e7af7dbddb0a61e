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
export { codeOf, errorWords, FileError, isFileError } from './errors.ts'
export { pathOf, wordsOf } from './operands.ts'
export { type Arguments, parseArguments } from './options.ts'
export { bytesOf, Output, outputOf } from './output.ts'
export { childOf, nameOf, parentOf, tidyPath, withoutSlash } from './paths.ts'
export { type CommandRule, refusalOf, type RefusedCommand } from './rule.ts'
export { decodeText, encodeText, hasForeignBytes } from './text.ts'
export { limitPrograms } from './tools/jq.ts'
export { shellTools } from './tools.ts'
