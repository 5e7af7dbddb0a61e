import type { ToolAnswer, Toolset } from '@ws/tools'
import { expect } from 'vitest'

type Given = Readonly<Record<string, unknown>>

/** Calls that must be carried out. */
export async function done(toolset: Toolset, tool: string, input: Given): Promise<ToolAnswer> {
  const answer = await toolset.run(tool, input)
  expect(answer.isError, answer.text).toBe(false)
  return answer
}

/** Calls that must be answered with an error, whose next call names a tool of the toolset. */
export async function refused(toolset: Toolset, tool: string, input: unknown): Promise<ToolAnswer> {
  const answer = await toolset.run(tool, input)
  expect(answer.isError, answer.text).toBe(true)
  expect(answer.text).toMatch(/^Error: /u)
  const { next } = answer
  // a patch alone, without commands, leaves no tool that looks around
  if (next === undefined && toolset.tools.some(({ name }) => name === 'apply_patch')) {
    expect(answer.text).not.toContain('Next:')
    return answer
  }
  expect(next).toBeDefined()
  expect(toolset.tools.map(({ name }) => name)).toContain(next?.tool)
  expect(answer.text).toContain(`Next: ${next?.tool} ${JSON.stringify(next?.arguments)}`)
  return answer
}

/** Calls of `file_system`. */
export function files(toolset: Toolset) {
  return {
    done: (operation: string, input: Given = {}) => done(toolset, 'file_system', { operation, ...input }),
    refused: (operation: string, input: Given = {}) => refused(toolset, 'file_system', { operation, ...input }),
  }
}
