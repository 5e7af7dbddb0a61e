import type { Version, VirtualPath } from '@ws/core'
import type { Downloader, DownloaderOptions } from '@ws/download'

import type { FaceName } from './face-names.ts'

/** A value as JSON holds it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined }

/** A call that the model can make without changing it. */
export interface NextCall {
  /** The name of a tool of the same toolset. */
  readonly tool: string
  readonly arguments: { readonly [name: string]: Json | undefined }
}

/** The answer of a tool to one call. */
export interface ToolAnswer {
  /** True when the call was not carried out. */
  readonly isError: boolean
  /** For the model. */
  readonly text: string
  /** For programs, with versions in every face. Of an error: `{ code, path, rule, argument }`, as far as they are known. */
  readonly data?: { readonly [name: string]: Json | undefined } | undefined
  /**
   * A call that goes on, or that avoids the error. The model can make it without changing it. After an error, the call has been
   * rehearsed, or names what a listing has shown. It is absent only where no tool of the set can help, such as `openai` without an executor.
   */
  readonly next?: NextCall | undefined
}

/** Hints for clients, in the words of the Model Context Protocol. They are no protection. */
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
  /** Ends the call: it rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

/** A tool as a model sees it, and the function that runs it. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
  readonly annotations: ToolAnnotations
  /** Never throws: faults are answers with `isError`. Only an abort rejects, with the signal's reason. */
  run(input: unknown, options?: RunOptions): Promise<ToolAnswer>
}

/** One change that a call made. */
export interface JournalEntry {
  /** Counts the calls of the toolset, from 1. Changes of one call have the same number. */
  readonly call: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly tool: string
  /** `executed`: a command ran, and may have changed any file. Its files are not listed. */
  readonly change: 'created' | 'updated' | 'deleted' | 'moved' | 'copied' | 'executed'
  /** The entry that changed; for a command, the directory that it ran in. */
  readonly path: VirtualPath
  /** The source of a move or copy. */
  readonly from?: VirtualPath | undefined
  /** The version that was there before; absent where nothing was. */
  readonly before?: Version | undefined
  /** The version that is there now; absent after a deletion, and where the store reports no version. */
  readonly after?: Version | undefined
  readonly command?: string | undefined
}

/** The tools of one face over one workspace. */
export interface Toolset extends AsyncDisposable {
  readonly tools: readonly Tool[]
  /** Runs a tool by name. An unknown name is an answer with `isError`. */
  run(name: string, input: unknown, options?: RunOptions): Promise<ToolAnswer>
  /** The changes of all calls so far, oldest first; of more than 10,000 the last ones. */
  journal(): readonly JournalEntry[]
  /** Ends the background commands that the toolset started. The workspace stays open. */
  close(): Promise<void>
}

export interface ToolsOptions {
  /** Default `file_system`. */
  readonly face?: FaceName | undefined
  /** Tokens of the model's context that an answer may count on. A text has at most 1.75 characters for each [FS2]. Default 50,000. */
  readonly maxContext?: number | undefined
  /**
   * Overwrite a whole file only after the toolset has read that version, or has written it itself. Default true in the
   * `claude-code` face, false in the others.
   */
  readonly requireReadBeforeWrite?: boolean | undefined
  /** Offer the tools that run commands. Default true. The face `openai` reads by commands, so that it needs them (`EINVAL`). */
  readonly commands?: boolean | undefined
  /**
   * Offer the tools `changes` and `restore`, and take a checkpoint before each call that may change files. The workspace needs the
   * option `checkpoints` (`EINVAL`). Default false.
   */
  readonly checkpoints?: boolean | undefined
  /**
   * Downloads [FS10], to hosts that the rules and the network of commands allow. `hosts` stands in place of that network. Where
   * commands have none, the tool is offered with `hosts` alone. `false`: never. A downloader stays yours to close. Default `{}`.
   */
  readonly downloads?: DownloadsOptions | Downloader | false | undefined
}

interface DownloadHosts {
  /**
   * The only hosts, as in `network.allow` of an executor, or `public` for every public host. `rules.allowHosts` narrows them.
   * Default: the hosts that commands reach.
   */
  readonly hosts?: readonly string[] | 'public' | undefined
}

/** How and where a toolset downloads: by options of a downloader, or by a downloader of your own. */
export type DownloadsOptions =
  | (DownloadHosts & DownloaderOptions & { readonly downloader?: undefined })
  | (DownloadHosts & { readonly downloader: Downloader })
