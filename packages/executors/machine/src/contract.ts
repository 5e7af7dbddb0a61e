/** A place other than this machine that starts processes and takes files. Files come back through the output of a process. */
export interface Machine {
  /** The name in messages and results, such as `e2b`. */
  readonly name: string
  /** True if processes get input: their {@link MachineProcess.stdin} exists. */
  readonly hasInput: boolean
  /**
   * Starts a program. Rejects if the machine cannot start programs now.
   * @param argv the program and its arguments; the machine looks the program up in its PATH
   */
  start(argv: readonly string[], options?: MachineStart): Promise<MachineProcess>
  /**
   * Writes a file, whose directory exists. Resolves when every program of the machine sees the whole file.
   * @param target an absolute path of the machine, of letters, digits, `/`, `.`, `_` and `-`
   */
  put(
    content: AsyncIterable<Uint8Array>,
    target: { readonly path: string; readonly signal?: AbortSignal | undefined },
  ): Promise<void>
}

export interface MachineStart {
  /** An absolute path of the machine. Default: the directory that the machine chooses. */
  readonly cwd?: string | undefined
  /** Variables beside those of the machine, named by capital letters, digits and `_`. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** True: the process gets {@link MachineProcess.stdin}. Default: empty input. */
  readonly hasInput?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface MachineProcess {
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Absent without `hasInput`, and on machines that give processes no input. */
  readonly stdin?: MachineInput | undefined
  /** Ends the process. Resolves when the machine has accepted the request; a process that has ended is no error. */
  kill(): Promise<void>
  /** Resolves with the exit status: 128 plus the number of a signal that ended the process. Rejects if the machine is lost. */
  wait(): Promise<number>
}

export interface MachineInput {
  /** Resolves when there is room for more. Rejects if the process no longer reads. */
  write(bytes: Uint8Array): Promise<void>
  end(): Promise<void>
}
