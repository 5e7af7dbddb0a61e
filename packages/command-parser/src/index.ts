export { parseCommands } from './commands.ts'
export { denyCommand } from './deny-command.ts'
export { parseScript, UnreadableCommand, visit } from './parse.ts'
export { type Piece, piecesOf, startsWithTilde, staticText } from './pieces.ts'
export { findWrapped, shells, type Wrapper, wrappers } from './wrappers.ts'
export type {
  AndOr,
  ArithmeticExpression,
  Assignment,
  Case,
  Command,
  CommandNode,
  CompoundList,
  For,
  Function as FunctionDefinition,
  ParameterExpansionPart,
  Pipeline,
  Redirection,
  Script,
  Statement,
  SyntaxNode,
  TestExpression,
  Word,
  WordPart,
} from 'unbash'
