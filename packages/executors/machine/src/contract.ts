/** A place other than this machine that starts processes, and takes and gives files. */
export interface Machine {
  /** The name in messages and results, such as `e2b`. */
  readonly name: string
  /**
   * Starts a program. Rejects if the machine cannot start programs now.
   * @param argv the program and its arguments; the machine looks the program up in its PATH
   */
  start(argv: readonly string[], options: MachineStart): Promise<MachineProcess>
  /** Unpacks a tar archive into a directory, which may be missing. Existing entries with the same names are replaced. */
  put(tar: AsyncIterable<Uint8Array>, target: MachineFiles): Promise<void>
  /** Packs entries into a tar archive, without following links. A missing entry is left out. @param paths relative to the directory */
  get(paths: readonly string[], source: MachineFiles): Promise<AsyncIterable<Uint8Array>>
}

export interface MachineFiles {
  /** An absolute path of the machine. */
  readonly directory: string
  readonly signal?: AbortSignal | undefined
}

export interface MachineStart {
  /** An absolute path of the machine. Default: the directory that the machine chooses. */
  readonly cwd?: string | undefined
  /** Variables beside those of the machine. Default: none. */
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
