import type { Facts, Invocation } from '../../contract.ts'
import { wordsOf } from '../../operands.ts'
import { bytesOf, type Output } from '../../output.ts'
import { type Expression, QueryError } from './expression.ts'
import { compileFormat } from './format.ts'
import { compileTest, type Entry, nameOf, type FindContext, type Test } from './tests.ts'

export interface State {
  readonly call: Invocation
  readonly output: Output
  readonly context: FindContext
  readonly facts: Facts
  pruned: boolean
  quit: boolean
  /** The remaining commands of `-exec … +`. */
  readonly batches: Map<object, () => Promise<void>>
}

export type Action = (entry: Entry) => Promise<boolean>

/** Limit of bytes of names for one `-exec … +`. */
const mostBytes = 131_072

export async function compileExpression(expression: Expression, state: State): Promise<Action> {
  if (expression.kind === 'not') {
    const part = await compileExpression(expression.part, state)
    return async (entry) => !(await part(entry))
  }
  if (expression.kind === 'test') return compileAction(expression.name, expression.values, state)
  const parts: Action[] = []
  for (const part of expression.parts) parts.push(await compileExpression(part, state))
  const stopsAt = expression.kind === 'or'
  return async (entry) => {
    for (const part of parts) {
      if ((await part(entry)) === stopsAt) return stopsAt
      if (state.quit) return false
    }
    return !stopsAt
  }
}

async function compileAction(name: string, values: readonly string[], state: State): Promise<Action> {
  const { call, output } = state
  switch (name) {
    case '-print':
      return always(({ shown }) => output.write(bytesOf(`${shown}\n`)))
    case '-print0':
      return always(({ shown }) => output.write(bytesOf(`${shown}\0`)))
    case '-printf': {
      const format = compileFormat(values[0] ?? '', state.context)
      return always(async (entry) => output.write(bytesOf(await format(entry))))
    }
    case '-prune':
      return always(() => {
        state.pruned = true
      })
    case '-quit':
      return always(() => {
        state.quit = true
      })
    case '-delete':
      return (entry) => remove(entry, state)
    case '-exec':
    case '-execdir':
      return values.at(-1) === '+'
        ? batched(name, values.slice(0, -1), state)
        : single(name, values.slice(0, -1), state)
    default: {
      const test: Test = await compileTest(name, values, state.context)
      return async (entry) => {
        call.host.check()
        return test(entry)
      }
    }
  }
}

function always(act: (entry: Entry) => void | Promise<void>): Action {
  return async (entry) => {
    await act(entry)
    return true
  }
}

async function remove({ shown, path }: Entry, { call, output }: State): Promise<boolean> {
  // As in GNU's find, the starting directory is not deleted.
  if (shown === '.') return true
  try {
    await call.context.fs.rm(path)
    return true
  } catch (error) {
    output.fail(`find: cannot delete ‘${shown}’: ${wordsOf(error)}`)
    return false
  }
}

/** The directory in which a command runs, and the name that the command gets. */
function placeOf(
  name: string,
  { shown, path }: Entry,
): { readonly directory: string | undefined; readonly shown: string } {
  if (name === '-exec') return { directory: undefined, shown }
  return { directory: path.replace(/\/+$/, '').replace(/\/[^/]*$/, '') || '/', shown: `./${nameOf(shown)}` }
}

function runsIn(directory: string | undefined): { readonly cwd?: string } {
  return directory === undefined ? {} : { cwd: directory }
}

function single(name: string, words: readonly string[], { call, output }: State): Action {
  return async (entry) => {
    const { directory, shown } = placeOf(name, entry)
    const result = await call.run(
      words.map((word) => word.replaceAll('{}', () => shown)),
      runsIn(directory),
    )
    output.relay(result)
    return result.exitCode === 0
  }
}

function batched(name: string, words: readonly string[], state: State): Action {
  const { call, output, batches } = state
  if (words.filter((word) => word.includes('{}')).length !== 1)
    throw new QueryError(`find: Only one instance of {} is supported with ${name} ... +`)
  const fixed = words.slice(0, -1)
  const key = {}
  let names: string[] = []
  let size = 0
  let place: string | undefined
  const run = async () => {
    if (names.length === 0) return
    const given = names
    names = []
    size = 0
    const result = await call.run([...fixed, ...given], runsIn(place))
    output.relay(result)
    if (result.exitCode !== 0) output.exitCode = Math.max(output.exitCode, 1)
  }
  batches.set(key, run)
  return async (entry) => {
    const { directory, shown } = placeOf(name, entry)
    if (size > mostBytes || (directory !== place && names.length > 0)) await run()
    place = directory
    names.push(shown)
    size += Buffer.byteLength(shown) + 1
    return true
  }
}
