export { parseCommands } from './commands.ts'
export { denyCommand } from './deny-command.ts'
export { parseScript, UnreadableCommand, visit } from './parse.ts'
export { type Piece, piecesOf, staticText } from './pieces.ts'
export { shells, wrappers } from './wrappers.ts'
export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Case,
  Command,
  CommandNode,
  For,
  Function as FunctionDefinition,
  Pipeline,
  Redirection,
  Script,
  Statement,
  Word,
  WordPart,
} from 'unbash'
