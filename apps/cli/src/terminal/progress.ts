export interface Progress extends Disposable {
  count(): void
  /** Clears the progress line for other text. The next tick prints the line again. */
  clear(): void
}

const firstAfter = 1000
const everyMs = 500

/** Milliseconds until the line appears (default 1,000), and between its updates (500). */
export interface ProgressOptions {
  readonly delay?: number
  readonly interval?: number
  /** The label of the number. Default: `found`. */
  readonly counted?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Shows progress on a line of a terminal. Does nothing on other streams. */
export function startProgress(
  stream: NodeJS.WriteStream,
  label: string,
  { delay = firstAfter, interval = everyMs, counted = 'found', env = process.env }: ProgressOptions = {},
): Progress {
  if (!stream.isTTY || env['TERM'] === 'dumb') return { count() {}, clear() {}, [Symbol.dispose]() {} }
  const started = Date.now()
  let found = 0
  let isShown = false
  const clear = (): void => {
    if (isShown) stream.write('\r\u001b[K')
    isShown = false
  }
  const show = (): void => {
    const passed = Date.now() - started
    if (passed < delay) return
    const results = found === 0 ? '' : `, ${found} ${counted}`
    const text = `${label}: ${Math.round(passed / 1000)} s${results}`
    stream.write(`\r\u001b[K${text.slice(0, (stream.columns || 80) - 1)}`)
    isShown = true
  }
  const timer = setInterval(show, interval).unref()
  return {
    count: () => void (found += 1),
    clear,
    [Symbol.dispose]() {
      clearInterval(timer)
      clear()
    },
  }
}
