/** One call of a tool. Data is bytes: strings with one character for each. */
export interface Invocation {
  readonly name: string
  readonly given: readonly string[]
  readonly context: ToolContext
  readonly host: ToolHost
  readonly listing: Listing
  /** The source of its standard input: the group or the loop around it, or a file. */
  readonly inherits?: 'group' | 'loop' | 'file' | undefined
  /**
   * Runs a program, for `xargs` and `find -exec`: no shell looks at its words.
   *
   * @param cwd default the tool's own
   * @param stdin bytes; default none
   */
  run(words: readonly string[], options?: { readonly cwd?: string; readonly stdin?: string }): Promise<ToolResult>
}

export type Tool<Call extends Invocation = Invocation> = (call: Call) => Promise<ToolResult>

export interface ToolHost {
  /** Ends the script: nothing after the call runs. For a form that the tool does not run as the real program does. */
  refuse(subject: string, reason: string): never
  /** Throws where the script is to stop. Tools call it between two pieces of work. */
  check(): void
  /** Notes that the tool reads its standard input, and refuses input that another command has read before. */
  noteInput(call: Invocation): void
}

export interface ToolResult {
  stdout: string
  stderr: string
  exitCode: number
  /** `bytes`: one character for each byte. Without it, text. */
  stdoutKind?: 'text' | 'bytes'
  stdoutEncoding?: 'binary'
  /** The bytes of both outputs, as they come where both go to one place. */
  together?: () => string
}

export interface ToolContext {
  readonly fs: ToolFiles
  readonly cwd: string
  /** Bytes. */
  readonly stdin: string
  /** All variables, exported or not. */
  readonly env: ReadonlyMap<string, string>
  readonly exportedEnv?: Readonly<Record<string, string>> | undefined
  readonly limits: { readonly maxAwkIterations: number; readonly maxSedIterations: number }
}

/** Files by absolute path. Errors begin with a code of the system: `ENOENT: …`. `binary` content is bytes in a string. */
export interface ToolFiles {
  resolvePath(base: string, path: string): string
  readFileBuffer(path: string): Promise<Uint8Array>
  writeFile(path: string, content: string | Uint8Array, encoding?: 'binary'): Promise<void>
  appendFile(path: string, content: string | Uint8Array, encoding?: 'binary'): Promise<void>
  exists(path: string): Promise<boolean>
  stat(path: string): Promise<FileFacts>
  lstat(path: string): Promise<FileFacts>
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  readdir(path: string): Promise<string[]>
  rm(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>
  cp(from: string, to: string, options?: { readonly recursive?: boolean }): Promise<void>
  mv(from: string, to: string): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  symlink(target: string, path: string): Promise<void>
  readlink(path: string): Promise<string>
  realpath(path: string): Promise<string>
}

export interface FileFacts {
  isFile: boolean
  isDirectory: boolean
  isSymbolicLink: boolean
  mode: number
  size: number
  mtime: Date
  /** Equal for two paths that lead to one file. */
  identity?: string
}

/** Directories by one listing, instead of an `lstat` for each entry. */
export interface Listing {
  readdirWithStats(path: string, options: { readonly facts: Facts }): Promise<ListedEntry[]>
  /** The facts that `lstat` reports about a path, or `stat` with `follow`, without the identity. */
  look(path: string, options?: { readonly follow?: boolean }): Promise<FileFacts>
}

/**
 * Facts that a listing reports about its entries. `size` adds the sizes of files, `all` everything that `lstat` knows.
 * Each may cost the store a request for each file, so a tool asks for no more than it shows.
 */
export type Facts = 'type' | 'size' | 'all'

export interface ListedEntry {
  readonly name: string
  /** As far as facts were asked for; absent where the listing lacks them: `lstat` reports them, or throws why. */
  readonly stat?: FileFacts | undefined
  /** The target of a link, with `all`, where the listing has it. */
  readonly target?: string | undefined
}
