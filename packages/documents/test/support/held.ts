import { watchTurns } from '@ws/test-fixtures'

/**
 * The longest time that one turn of the event loop took while the work ran, as {@link watchTurns} measures it. The least of
 * three rounds: a collection of garbage may fall into one.
 */
export async function longestTurn<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  const first = await measure(work)
  let { longest } = first
  for (let round = 1; round < 3; round++) longest = Math.min(longest, (await measure(work)).longest)
  return { result: first.result, longest }
}

async function measure<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  const turns = watchTurns()
  try {
    return { result: await work(), longest: turns.longest() }
  } finally {
    turns.stop()
  }
}
