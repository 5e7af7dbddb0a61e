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
  readonly tool: FaceTool
  readonly input: unknown
  readonly signal: AbortSignal | undefined
  /** True if the wanted call uses an entry just seen. That call is then proposed without a rehearsal. */
  readonly isSeen?: boolean | undefined
}

const choices = ['operation', 'command']
const subjects = ['path', 'from', 'file_path', 'old_path'] as const

/**
 * The first possible call: the wanted call, a read of its file, a listing, the tool's example. `isWanted` is false for a read or a listing.
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
      // the root exists, and a listing is not worth another request
      if (candidate === lookAround && rehearsal.isSpent) return offered
    }
  }
  return undefined

  /** The wanted call without optional arguments that the model did not give. */
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

  /** Only the model decides to delete a whole tree. */
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

/** Characters searched of each text: 3 MiB of line breaks take 30 ms to write as JSON. */
const longestText = 16 * 1024

function beginningsOf(input: unknown): string {
  const shorten = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.slice(0, longestText) : value
  return JSON.stringify(input, shorten) ?? ''
}

function looksAt(wanted: NextOperation | NextCall | undefined): NextOperation[] {
  const path = subjects.map((name) => wanted?.arguments[name]).find((value) => typeof value === 'string')
  return path === undefined ? [] : ['read', 'inspect'].map((operation) => ({ operation, arguments: { path } }))
}
