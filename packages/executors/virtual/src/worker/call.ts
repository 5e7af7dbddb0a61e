import type { Invocation, Tool, ToolContext } from '@ws/shell-tools'
import type { defineCommand } from 'just-bash'

import type { Session } from './state/session.ts'

export type InterpreterContext = Parameters<Parameters<typeof defineCommand>[1]>[1]

export interface Call extends Invocation {
  /** Standard input is a byte string here, without just-bash's type brand. */
  readonly context: Omit<InterpreterContext, 'stdin'> & ToolContext
  readonly host: Session
}

export type ScriptTool = Tool<Call>
