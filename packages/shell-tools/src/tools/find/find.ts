import type { FileFacts, Invocation, ListedEntry, Tool } from '../../contract.ts'
import { pathOf, wordsOf } from '../../operands.ts'
import { Output } from '../../output.ts'
import { codeOf, FileError, isFileError } from '../../errors.ts'
import { type Action, compileExpression, type State } from './actions.ts'
import { parseQuery, type Query, QueryError, Unsupported } from './expression.ts'
import { factsOf } from './facts.ts'
import type { Entry, FindContext } from './tests.ts'

/** GNU's find. Refuses the whole command if a part is unknown. */
export const find: Tool = async (call) => {
  const output = new Output()
  try {
    const query = parseQuery(call.given)
    const context = contextOf(call, query)
    const facts = factsOf(query.expression)
    const state: State = { call, output, context, facts, pruned: false, quit: false, batches: new Map() }
    const action = await compileExpression(query.expression, state)
    for (const start of query.starts) {
      if (state.quit) break
      await walkFrom(start, query, action, state)
    }
    for (const finish of state.batches.values()) await finish()
  } catch (error) {
    if (error instanceof Unsupported) call.host.refuse(error.subject, error.message)
    if (!(error instanceof QueryError)) throw error
    output.fail(error.message)
  }
  return output.result()
}

function contextOf(call: Invocation, { follow }: Query): FindContext {
  const { fs } = call.context
  return {
    now: Date.now(),
    async readFile(path) {
      try {
        return await call.listing.look(pathOf(call, path), { follow: follow !== 'never' })
      } catch (error) {
        throw new QueryError(`find: ‘${path}’: ${wordsOf(error)}`)
      }
    },
    readLink: (path) => fs.readlink(path),
    isEmptyDirectory: async (path) => (await fs.readdir(path)).length === 0,
    async otherSide({ path, stat }) {
      if (follow === 'always') return call.listing.look(path)
      return stat.isSymbolicLink ? call.listing.look(path, { follow: true }).catch(() => stat) : stat // a broken link stands for itself
    },
  }
}

async function walkFrom(start: string, query: Query, action: Action, state: State): Promise<void> {
  const path = pathOf(state.call, start)
  try {
    const stat = await statOf(path, query.follow !== 'never', state.call)
    await visit({ shown: start, path, start, depth: 0, stat }, query, action, state, [])
  } catch (error) {
    complain(start, error, state)
  }
}

async function statOf(path: string, follow: boolean, call: Invocation, listed?: ListedEntry): Promise<FileFacts> {
  const own = listed?.stat ?? (await call.listing.look(path))
  // a broken link stands for itself
  return follow && own.isSymbolicLink ? call.listing.look(path, { follow: true }).catch(() => own) : own
}

async function visit(
  entry: Entry,
  query: Query,
  action: Action,
  state: State,
  above: readonly string[],
): Promise<void> {
  state.call.host.check()
  const applies = entry.depth >= query.least
  state.pruned = false
  if (applies && !query.depth) await action(entry)
  const pruned = state.pruned && !query.depth
  if (entry.stat.isDirectory && entry.depth < query.most && !pruned && !state.quit)
    await enter(entry, query, action, state, above)
  if (applies && query.depth && !state.quit) await action(entry)
}

async function enter(
  entry: Entry,
  query: Query,
  action: Action,
  state: State,
  above: readonly string[],
): Promise<void> {
  const { fs } = state.call.context
  let listed: ListedEntry[]
  let real = ''
  try {
    if (query.follow === 'always') real = await fs.realpath(entry.path)
    listed = await state.call.listing.readdirWithStats(entry.path, { facts: state.facts })
  } catch (error) {
    complain(entry.shown, error, state)
    return
  }
  for (const below of listed) {
    const { name } = below
    if (state.quit) return
    const shown = entry.shown.endsWith('/') ? entry.shown + name : `${entry.shown}/${name}`
    const path = pathOf(state.call, shown)
    try {
      const stat = await statOf(path, query.follow === 'always', state.call, below)
      if (stat.isDirectory && real !== '' && [...above, real].includes(await fs.realpath(path))) {
        state.output.fail(`find: File system loop detected; ‘${shown}’ is part of the same file system loop.`)
        continue
      }
      await visit(
        { ...entry, shown, path, depth: entry.depth + 1, stat },
        query,
        action,
        state,
        real === '' ? above : [...above, real],
      )
    } catch (error) {
      if (codeOf(error) === 'ENOENT' && query.depth) continue
      complain(shown, error, state)
    }
  }
}

function complain(shown: string, error: unknown, { output }: State): void {
  if (!(error instanceof FileError) && !hasErrorCode(error)) throw error
  output.fail(`find: ‘${shown}’: ${wordsOf(error)}`)
}

function hasErrorCode(error: unknown): boolean {
  return isFileError(error) || (error instanceof Error && 'code' in error && typeof error.code === 'string')
}
