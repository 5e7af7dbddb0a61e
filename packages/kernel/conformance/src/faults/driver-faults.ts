/** The method `start` of a driver for `defineExecutor`, with the parts that a fault changes. */
type Start = (
  prepared: object,
  run: { readonly onStdout: (chunk: Uint8Array) => unknown },
) => Promise<{ readonly exited: Promise<object>; readonly signal: (...given: never[]) => boolean; end(): void }>

interface DriverFault {
  readonly name: string
  /** The error code of a command with this fault. The error's reason names the executor. */
  readonly code: 'EIO' | 'ENOEXEC'
  readonly command: string
  readonly apply: <Sound extends Start>(start: Sound) => Start
}

/** Drivers that each break their contract in one way. A command must fail with `code`, and must not hang. */
export const driverFaults: readonly DriverFault[] = [
  {
    name: 'its start throws',
    code: 'ENOEXEC',
    command: 'true',
    apply: () => () => Promise.reject(new TypeError('x is not a function')),
  },
  {
    name: 'its start never answers',
    code: 'ENOEXEC',
    command: 'true',
    apply: () => () => new Promise(() => undefined),
  },
  {
    name: 'reports an end without a meaning',
    code: 'EIO',
    command: 'true',
    apply: (start) => async (prepared, run) => {
      const port = await start(prepared, run)
      return Object.assign(port, { exited: port.exited.then(() => ({ status: -1 })) })
    },
  },
  {
    name: 'gives output after the end',
    code: 'EIO',
    command: 'echo out',
    apply: (start) => async (prepared, run) => {
      const port = await start(prepared, run)
      const late = async () => void run.onStdout(Buffer.from('late'))
      Object.assign(prepared, { release: late })
      return port
    },
  },
  {
    name: 'ignores every signal',
    code: 'EIO',
    command: 'sleep 60',
    apply: (start) => async (prepared, run) => {
      const port = await start(prepared, run)
      // The process ends 15 s later, so that the test leaves no process.
      const end = () => void setTimeout(() => port.end(), 15_000)
      return Object.assign({ ...port }, { signal: () => true, end, exited: new Promise<object>(() => undefined) })
    },
  },
]
