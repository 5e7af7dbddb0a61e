import type { ShellState as CarriedState } from '@ws/core'
import { deserialize, serialize } from 'node:v8'

import { noteScripts } from '../syntax/known-scripts.ts'
import type { ShellState } from './interpreter.ts'

/** Maximum characters of a kept state. */
const most = 256 * 1024

const kept = [
  'previousDir',
  'options',
  'shoptOptions',
  'functions',
  'env',
  'arrays',
  'associativeArrays',
  'exportedVars',
  'readonlyVars',
  'integerVars',
  'lowercaseVars',
  'uppercaseVars',
  'namerefs',
  'boundNamerefs',
  'invalidNamerefs',
  'declaredVars',
] as const

export function packState(state: ShellState): CarriedState {
  const values: Readonly<Record<string, unknown>> = { ...state }
  const data = serialize(Object.fromEntries(kept.map((name) => [name, values[name]]))).toString('base64')
  return { directory: state.cwd, ...(data.length <= most && { data }) }
}

export function unpackState(data: string, state: ShellState): void {
  const values = deserialize(Buffer.from(data, 'base64')) as ShellState
  for (const body of values.functions.values()) noteScripts(body as object)
  Object.assign(state, values)
  state.env.set('PWD', state.cwd)
}
