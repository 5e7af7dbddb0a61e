import { isWorkspaceError } from '@ws/core'
import type { VirtualPath, WorkspaceError } from '@ws/core'
import { escapeUnprintable, rehearsing } from '@ws/core/executor'

import type { Dialect, Face, FaceTool } from './faces/face.ts'
import { callOfFace } from './next/call-of-face.ts'
import { possibleCall } from './next/possible-call.ts'
import { wayOn } from './next/way-on.ts'
import type { Call } from './session/session.ts'
import { jsonOf } from './text/frame.ts'
import type { NextCall, ToolAnswer } from './types.ts'
import { problemOf, sentenceOf } from './answers/from-error.ts'
import type { Outcome, ProblemOptions } from './answers/problem.ts'

export function runTool(face: Face, tool: FaceTool, call: Call, input: unknown): Promise<ToolAnswer> {
  const work = async () => answerOf(face, tool, await tool.handle(call, input), call)
  return answering(face, tool, { call, input, work })
}

interface Answering {
  readonly call: Call
  readonly input: unknown
  readonly work: () => Promise<ToolAnswer>
}

/** Turns an error into an answer. */
export async function answering(face: Face, tool: FaceTool, { call, input, work }: Answering): Promise<ToolAnswer> {
  const { signal } = call
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    // let later calls start now: the search for a next call needs no place in the queue
    call.pass()
    const { session } = call
    const { workspace } = session
    const dialect = tool.dialect ?? face
    const within = (dialect.root ?? workspace.root) as VirtualPath
    const way = isMissing(error)
      ? await wayOn(rehearsing(workspace), error.path, { within, signal, isFile: error.code === 'ENOTDIR' })
      : undefined
    const problem = inWordsOf(dialect, { ...problemOf(error), ...way })
    const offer = { session, face, tool, input, signal, isSeen: problem.isSeen }
    return renderProblem(problem, await possibleCall(problem.next, offer))
  } finally {
    call.pass()
  }
}

function answerOf(
  face: Face,
  tool: FaceTool,
  { text, image, data, next }: Outcome,
  { notes, session }: Call,
): ToolAnswer {
  const shown = notes.length === 0 ? text : `${text}\n[note: ${notes.join(' ')}]`
  const call = next === undefined ? undefined : callOfFace(next, { session, face, tool })?.call
  return { isError: false, text: shown, ...(image && { image }), data, ...(call && { next: call }) }
}

function isMissing(error: unknown): error is WorkspaceError & { readonly path: string } {
  return (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) && error.path !== undefined
}

function inWordsOf({ words }: Dialect, problem: ProblemOptions): ProblemOptions {
  if (words === undefined || problem.next === undefined || 'tool' in problem.next) return problem
  const translate = (text: string): string =>
    text.replaceAll(/`(\w+)`/gu, (whole, word: string) =>
      Object.hasOwn(words, word) ? `\`${words[word] ?? word}\`` : whole,
    )
  // the details also quote lines of a file, which must stay unchanged
  const details = problem.details?.replaceAll(', and `old` has `', `, and \`${words['old'] ?? 'old'}\` has \``)
  return { ...problem, sentence: translate(problem.sentence), remedy: translate(problem.remedy), details }
}

export function renderProblem(
  { sentence, remedy, details, data }: ProblemOptions,
  { call: next, isWanted = true }: { readonly call?: NextCall; readonly isWanted?: boolean } = {},
): ToolAnswer {
  const way = next === undefined || isWanted ? remedy : `${remedy}; look first, as below`
  const lines = [escapeUnprintable(`Error: ${sentenceOf(sentence)} ${sentenceOf(capital(way))}`)]
  if (details !== undefined && details !== '') lines.push(details)
  if (next !== undefined) lines.push(`Next: ${next.tool} ${jsonOf(next.arguments)}`)
  return { isError: true, text: lines.join('\n'), data, ...(next && { next }) }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
