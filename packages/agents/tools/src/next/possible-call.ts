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
  /** The wanted call works on what was just seen: it is not rehearsed. */
  readonly isSeen?: boolean | undefined
}

/** Arguments that choose among operations. */
const choices = ['operation', 'command']
/** Arguments that name what a call works on. */
const subjects = ['path', 'from', 'file_path', 'old_path'] as const

/**
 * The first of these calls that is possible, as the tools of the face have it: the wanted one, a look at its file, a look around,
 * the example of the tool. They are rehearsed on a few paths together. `undefined` where none is possible.
 *
 * @returns with `isWanted` false for a look at what is there
 */
export async function possibleCall(
  wanted: NextOperation | NextCall | undefined,
  { session, face, tool, input, signal, isSeen = false }: Offer,
): Promise<{ readonly call: NextCall; readonly isWanted: boolean } | undefined> {
  let given: string | undefined
  const rehearsal = new Rehearsal(session)
  const lookAround: NextOperation = { operation: 'list', arguments: { path: '.', depth: 1 } }
  const candidates = isSeen
    ? [wanted, lookAround]
    : [wanted, withoutExtras(), ...looksAt(wanted), lookAround, { tool: tool.name, arguments: tool.example }]
  const firstLook = isSeen ? 1 : 2
  for (const candidate of candidates) {
    signal?.throwIfAborted()
    const next = candidate === undefined ? undefined : callOfFace(candidate, { session, face, tool })
    if (candidate === undefined || next === undefined || deletesMore(candidate)) continue
    const offered = { call: next.call, isWanted: candidates.indexOf(candidate) < firstLook }
    if (isSeen) return offered
    try {
      await rehearse(candidate, next)
      return offered
    } catch {
      // the root is there, and a look around is not worth another request
      if (candidate === lookAround && rehearsal.isSpent) return offered
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

  /** Whether to delete a whole tree is for the model to say. */
  function deletesMore({ arguments: values }: NextOperation | NextCall): boolean {
    return values['recursive'] === true && (input as { recursive?: unknown } | null)?.recursive === undefined
  }

  async function rehearse(
    candidate: NextOperation | NextCall,
    { call, called }: { readonly call: NextCall; readonly called: FaceTool },
  ): Promise<void> {
    const name = 'tool' in candidate ? undefined : operationNames.find((one) => one === candidate.operation)
    const values = JSON.parse(JSON.stringify(call.arguments))
    let replaces: boolean
    if (name === undefined || called.runsCommands !== true) {
      replaces = await rehearsal.play(called.name, signal, (one) => called.handle(one, values))
    } else {
      // a command that does the work of an operation is rehearsed as that operation
      const { handle, input: schema } = rowOf(name)
      const checked = schema.parse(JSON.parse(JSON.stringify(candidate.arguments)))
      replaces = await rehearsal.play(name, signal, (one) => handle(one, checked))
      await rehearsal.workspace.exec('ls -la')
    }
    if (!replaces) return
    const own = Object.entries(call.arguments).find(
      ([name, value]) => typeof value === 'string' && !choices.includes(name) && !isGiven(value),
    )
    if (own !== undefined) throw new Error(`\`${own[0]}\` is the example's`)
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
