import type { NextOperation } from '../answers/problem.ts'
import type { Face, FaceTool } from '../faces/face.ts'
import type { Session } from '../session/session.ts'
import type { NextCall } from '../types.ts'

interface Caller {
  readonly session: Session
  readonly face: Face
  readonly tool: FaceTool
}

/** The call in the face's tools; `undefined` where no tool does the operation, or its executor is missing. */
export function callOfFace(
  candidate: NextOperation | NextCall,
  { session, face, tool }: Caller,
): { readonly call: NextCall; readonly called: FaceTool } | undefined {
  const call = 'tool' in candidate ? candidate : (tool.dialect ?? face).next(candidate)
  const called = face.tools.find(({ name }) => name === call?.tool)
  if (call === undefined || called === undefined) return undefined
  return called.runsCommands === true && session.workspace.executor === undefined ? undefined : { call, called }
}
