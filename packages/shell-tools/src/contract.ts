/** One call of a tool. Input and output are byte strings, with one character for each byte. */
export interface Invocation {
  readonly name: string
  readonly given: readonly string[]
  readonly context: ToolContext
  readonly host: ToolHost
  readonly listing: Listing
  /** The source of the tool's standard input: the surrounding group or loop, or a file. */
  readonly inherits?: 'group' | 'loop' | 'file' | undefined
  /** Runs a program without a shell, for `xargs` and `find -exec`. @param cwd default: the tool's own @param stdin bytes; default: none */
  run(words: readonly string[], options?: { readonly cwd?: string; readonly stdin?: string }): Promise<ToolResult>
}

export type Tool<Call extends Invocation = Invocation> = (call: Call) => Promise<ToolResult>

export interface ToolHost {
  /** Ends the script at a form of a command whose result would differ from the real program's. */
  refuse(subject: string, reason: string): never
  /** Throws if the script must stop. Tools call `check` between two pieces of work. */
  check(): void
  /** Records that the tool reads its standard input; refuses input that another command has read. */
  noteInput(call: Invocation): void
}

export interface ToolResult {
  stdout: string
  stderr: string
  exitCode: number
  /** `bytes`: one character for each byte. Default: text. */
  stdoutKind?: 'text' | 'bytes'
  stdoutEncoding?: 'binary'
  /** The bytes of both outputs in order, for outputs that go to the same target. */
  together?: () => string
}

export interface ToolContext {
  readonly fs: ToolFiles
  readonly cwd: string
  readonly stdin: string
  /** All variables, exported or not. */
  readonly env: ReadonlyMap<string, string>
  readonly exportedEnv?: Readonly<Record<string, string>> | undefined
  readonly limits: { readonly maxAwkIterations: number; readonly maxSedIterations: number }
}

/** Files by absolute path. Errors begin with a system code: `ENOENT: …`. `binary` content is a byte string. */
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
  /** Equal for two paths of the same file. */
  identity?: string
}

/** Lists directories with facts about the entries: an `lstat` for each entry would cost requests. */
export interface Listing {
  readdirWithStats(path: string, options: { readonly facts: Facts }): Promise<ListedEntry[]>
  /** The facts of `lstat`, or of `stat` with `follow`, without the identity. */
  look(path: string, options?: { readonly follow?: boolean }): Promise<FileFacts>
}

/** Facts in a listing: `size` adds file sizes, `all` adds all facts of `lstat`. Each fact may cost a request per file: request few. */
export type Facts = 'type' | 'size' | 'all'

export interface ListedEntry {
  readonly name: string
  /** The requested facts. If absent, call `lstat`, which reports the facts or throws. */
  readonly stat?: FileFacts | undefined
  /** A link's target, for `all`, if the listing has the target. */
  readonly target?: string | undefined
}
