import type { Invocation, Tool, ToolContext } from '@ws/shell-tools'
import type { defineCommand } from 'just-bash'

import type { Session } from './state/session.ts'

export type InterpreterContext = Parameters<Parameters<typeof defineCommand>[1]>[1]

export interface Call extends Invocation {
  /** Standard input is bytes here; just-bash's type brand is removed. */
  readonly context: Omit<InterpreterContext, 'stdin'> & ToolContext
  readonly host: Session
}

export type ScriptTool = Tool<Call>
