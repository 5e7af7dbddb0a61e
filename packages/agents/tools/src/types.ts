import type { Try, Version, VirtualPath } from '@ws/core'
import type { Asked } from '@ws/core/executor'
import type { Downloader, DownloaderOptions } from '@ws/download'

import type { FaceName } from './face-names.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined }

/** A call that the model can make unchanged. */
export interface NextCall {
  /** A tool of the same toolset. */
  readonly tool: string
  readonly arguments: { readonly [name: string]: Json | undefined }
}

export interface ToolAnswer {
  /** True when the call was not carried out. */
  readonly isError: boolean
  readonly text: string
  /** The image that was read, for a model that sees. The text names its type, pixels and bytes. */
  readonly image?:
    | {
        readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
        /** Base64, at most 5 MiB. */
        readonly data: string
        readonly width: number
        readonly height: number
      }
    | undefined
  /** For programs; has versions in every face. For an error: `{ code, path, rule, argument }`, as far as known. */
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
  /** A call that continues the work, or avoids the error, usable unchanged. Absent only where no tool of the toolset can help. */
  readonly next?: NextCall | undefined
}

/** Hints for clients as in the Model Context Protocol. No hint protects anything. */
export interface ToolAnnotations {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  /** The tool reaches places outside the workspace. */
  readonly openWorldHint: boolean
}

/** JSON Schema of the arguments: one object, without `oneOf` or `anyOf` at its top. */
export interface InputSchema {
  readonly type: 'object'
  readonly properties: { readonly [name: string]: { readonly [keyword: string]: unknown } }
  readonly required?: readonly string[] | undefined
  readonly additionalProperties: false
}

export interface RunOptions {
  /** Aborts the call, which rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
  readonly annotations: ToolAnnotations
  /** Never throws: faults are answers with `isError`. Only an abort rejects, with the signal's reason. */
  run(input: unknown, options?: RunOptions): Promise<ToolAnswer>
}

export interface JournalEntry {
  /** Counts the calls of the toolset, from 1. Changes of one call have the same number. */
  readonly call: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly tool: string
  /** `executed`: a command ran, and may have changed any file. The changed files are not listed. */
  readonly change: 'created' | 'updated' | 'deleted' | 'moved' | 'copied' | 'executed'
  /** The entry that changed; for a command, the directory that it ran in. */
  readonly path: VirtualPath
  /** The source of a move or copy. */
  readonly from?: VirtualPath | undefined
  /** The earlier version; absent for a new entry. */
  readonly before?: Version | undefined
  /** The new version; absent after a deletion, and where the store reports none. */
  readonly after?: Version | undefined
  readonly command?: string | undefined
}

export interface Toolset extends AsyncDisposable {
  readonly tools: readonly Tool[]
  run(name: string, input: unknown, options?: RunOptions): Promise<ToolAnswer>
  /**
   * Runs a call as `run` does, and holds its changes until `keep` or `drop`, for programs that ask for approval themselves. States, as
   * {@link ToolsOptions.approve} does, that nothing else changes the files. Waits for earlier calls. Commands in the background are refused.
   * @throws WorkspaceError as `try` of the workspace does: `EBUSY` while another try is open, `ENOTSUP` without `checkpoints`
   */
  try(name: string, input: unknown, options?: RunOptions): Promise<Try<ToolAnswer>>
  /** The changes of all calls so far, oldest first; the last 10,000 are kept. Has no change that was taken back. */
  journal(): readonly JournalEntry[]
  /** Ends the background commands that the toolset started, and takes back changes that wait for a decision. The workspace stays open. */
  close(): Promise<void>
}

/** A call that has run. Its changes are in place, and do not count before the decision. Nothing else may change files meanwhile. */
export interface ApprovalRequest extends Pick<Try<ToolAnswer>, 'changes' | 'leftOut' | 'connections' | 'diff'> {
  readonly tool: string
  /** The arguments as the model gave them. */
  readonly input: unknown
  /** The number of the call, as in the journal. */
  readonly call: number
  /** The answer that the model gets if all changes are kept. */
  readonly answer: ToolAnswer
  /**
   * Refusals by rules that ask: the matches of patterns, and hosts. `grant` allows all of them. Known are the error of a call, the rules
   * in the result of a command, and refused hosts. A program that hides a refusal is not known.
   */
  readonly asked: readonly Asked[]
  /** Aborted when the call is aborted, the toolset is closed, or the time to decide is over. */
  readonly signal: AbortSignal
}

/** A decision about a call. An answer of another shape is a drop, and the model is told so. */
export interface Approval {
  /** `keep` accepts the changes. `drop` takes all of them back, and the answer to the model is an error that says so. */
  readonly decision: 'keep' | 'drop'
  /** Keep only these paths with everything below them, and take back the others. A path without a change is a drop. Default: all. */
  readonly paths?: readonly string[] | undefined
  /**
   * Takes the changes back, and runs the call again with all that is in `asked`, for this one call. The effects of the new run make a
   * new request. Only for `keep`, and without `paths`. Ignored where nothing was asked. Default false.
   */
  readonly grant?: boolean | undefined
  /** Words for the model. */
  readonly message?: string | undefined
}

export interface ToolsOptions {
  /** Default `file_system`. */
  readonly face?: FaceName | undefined
  /** Tokens of the model's context for one answer, of at most 1.75 characters each [FS2]. Default 50,000. */
  readonly maxContext?: number | undefined
  /** Overwrite a file only if the toolset has read or written that version. Default true for `claude-code`, else false. */
  readonly requireReadBeforeWrite?: boolean | undefined
  /** Offer the tools that run commands. Default true. The face `openai` needs them (`EINVAL`). */
  readonly commands?: boolean | undefined
  /**
   * `session`: commands keep the shell's directory, variables, functions, aliases and options, and run one after another.
   * `command`, the default: each command has a shell of its own, which starts at the root.
   */
  readonly shell?: 'command' | 'session' | undefined
  /** Offer `changes` and `restore`, with checkpoints before changes. Needs the workspace's `checkpoints` (`EINVAL`). Default false. */
  readonly checkpoints?: boolean | undefined
  /** Name up to 20 changed files in the answer to a command. Needs the workspace's `checkpoints` (`EINVAL`). Default false. */
  readonly changes?: boolean | undefined
  /**
   * Decides about each call that changed files, or that a rule refused which asks, before its changes count. Called once for each such call;
   * the calls run one after another. Commands in the background are refused. An exception, a late answer and an invalid one are a drop.
   *
   * The option states that nothing else changes the files meanwhile: a drop would take that work back too. Connections cannot be taken
   * back. Needs the workspace's `checkpoints` (`EINVAL`). Default: each call counts at once.
   */
  readonly approve?: ((request: ApprovalRequest) => Approval | Promise<Approval>) | undefined
  /** Milliseconds to decide, of `approve` and `try`. Changes without a decision are then taken back. Default 3,600,000: an hour. */
  readonly decideWithin?: number | undefined
  /**
   * Downloads [FS10] to hosts that the rules and the commands' network allow. `hosts` replaces that network. Default `{}`; `false`: none.
   * Without a network for commands, `hosts` is required. The caller closes a custom downloader.
   */
  readonly downloads?: DownloadsOptions | Downloader | false | undefined
}

interface DownloadHosts {
  /**
   * The only hosts, as in an executor's `network.allow`, or `public`. `rules.allowHosts` narrows them. Default: hosts that commands reach.
   */
  readonly hosts?: readonly string[] | 'public' | undefined
}

/** Options of a downloader, or your own downloader. */
export type DownloadsOptions =
  | (DownloadHosts & DownloaderOptions & { readonly downloader?: undefined })
  | (DownloadHosts & { readonly downloader: Downloader })
