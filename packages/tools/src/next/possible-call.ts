import type { NextOperation } from '../answers/problem.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import type { Face, FaceTool } from '../faces/face.ts'
import { rowOf, operationNames } from '../operations/table.ts'
import type { Session } from '../session/session.ts'
import type { Json, NextCall } from '../types.ts'
import { callOfFace } from './call-of-face.ts'
import { Rehearsal } from './rehearsal.ts'

interface Offer {
  readonly session: Session
  readonly face: Face
  /** The tool that was called. */
  readonly tool: FaceTool
  /** Its arguments. */
  readonly input: unknown
  readonly signal: AbortSignal | undefined
}

/** Arguments that name what a call works on. */
const subjects = ['path', 'from', 'file_path', 'old_path'] as const

/**
 * The first of these calls that is possible, as the tools of the face have it: the wanted one, a look around, the example of the
 * tool. Each is rehearsed before. `undefined` where none is possible.
 */
export async function possibleCall(
  wanted: NextOperation | NextCall | undefined,
  { session, face, tool, input, signal }: Offer,
): Promise<NextCall | undefined> {
  let given: string | undefined
  const lookAround: NextOperation = { operation: 'list', arguments: { path: '.' } }
  const candidates = [
    wanted,
    withoutExtras(),
    ...looksAt(wanted),
    lookAround,
    { tool: tool.name, arguments: tool.example },
  ]
  for (const candidate of candidates) {
    signal?.throwIfAborted()
    const next = candidate === undefined ? undefined : callOfFace(candidate, { session, face, tool })
    if (candidate === undefined || next === undefined) continue
    try {
      await rehearse(candidate, next)
      return next.call
    } catch {
      // the reason does not matter: the call is not offered
    }
  }
  return undefined

  /** The wanted call without arguments that are optional and that the model did not give. */
  function withoutExtras(): NextOperation | NextCall | undefined {
    if (wanted === undefined) return undefined
    const name = 'tool' in wanted ? wanted.tool : wanted.operation
    const schema =
      'tool' in wanted
        ? face.tools.find((one) => one.name === name)?.inputSchema
        : operationNames.filter((one) => one === name).map((one) => inputSchemaOf(rowOf(one).input))[0]
    const values = Object.entries(wanted.arguments)
    const kept = values.filter(([key, value]) => schema?.required?.includes(key) === true || isGiven(value))
    return kept.length === values.length ? undefined : { ...wanted, arguments: Object.fromEntries(kept) }
  }

  function isGiven(value: Json | undefined): boolean {
    given ??= beginningsOf(input)
    return value !== undefined && given.includes(JSON.stringify(value).replaceAll(/^"|"$/gu, ''))
  }

  async function rehearse(
    candidate: NextOperation | NextCall,
    { call, called }: { readonly call: NextCall; readonly called: FaceTool },
  ): Promise<void> {
    const rehearsal = new Rehearsal(session)
    const name = 'tool' in candidate ? undefined : operationNames.find((one) => one === candidate.operation)
    if (name !== undefined) {
      const { handle, input: schema } = rowOf(name)
      await handle(rehearsal.begin(name, signal), schema.parse(JSON.parse(JSON.stringify(candidate.arguments))))
    }
    // a command that does the work of an operation was rehearsed as that operation
    if (name !== undefined && called.runsCommands === true) await rehearsal.workspace.exec('ls -la')
    else await called.handle(rehearsal.begin(called.name, signal), JSON.parse(JSON.stringify(call.arguments)))
    if (rehearsal.isChanged) await refuseExample(call.arguments)
  }

  /** Throws if an example would change an existing file that the call did not name. */
  async function refuseExample(values: NextCall['arguments']): Promise<void> {
    for (const name of subjects) {
      const path = values[name]
      if (typeof path !== 'string' || isGiven(path)) continue
      if (await session.workspace.exists(path)) throw new Error(`\`${name}\` is the example's`)
    }
  }
}

/** Characters of each text in a call that are searched: 3 MiB of line breaks take 30 ms to be written as JSON. */
const longestText = 16 * 1024

/** The arguments as JSON, without the ends of long texts. */
function beginningsOf(input: unknown): string {
  const shorten = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.slice(0, longestText) : value
  return JSON.stringify(input, shorten) ?? ''
}

/** Looks at the file that a call was to work on. */
function looksAt(wanted: NextOperation | NextCall | undefined): NextOperation[] {
  const path = subjects.map((name) => wanted?.arguments[name]).find((value) => typeof value === 'string')
  return path === undefined ? [] : ['read', 'inspect'].map((operation) => ({ operation, arguments: { path } }))
}
