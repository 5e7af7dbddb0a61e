/**
 * The longest time that one turn of the event loop took while the work ran, in milliseconds of this thread's own
 * processor time: others on the machine do not count. The least of three rounds: a collection of garbage may fall into one.
 */
export async function longestTurn<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  const first = await measure(work)
  let { longest } = first
  for (let round = 1; round < 3; round++) longest = Math.min(longest, (await measure(work)).longest)
  return { result: first.result, longest }
}

async function measure<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  let longest = 0
  let last = process.threadCpuUsage()
  let running = true
  const turn = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    return { result: await work(), longest }
  } finally {
    running = false
  }
}
