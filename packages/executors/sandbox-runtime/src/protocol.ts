import type { Lists } from './lists.ts'

export interface WrapperSetting {
  readonly platform: NodeJS.Platform
  /** An empty directory, the working directory of the library. */
  readonly directory: string
  readonly bwrapPath: string
  /** The place for a copy of the library's filter of system calls. */
  readonly applyPath: string
}

export interface WrapOrder {
  readonly id: number
  readonly command: string
  readonly lists: Lists
  /** The user that runs the result. */
  readonly uid: number
}

export type WrapReply =
  | { readonly id: number; readonly argv: readonly string[]; readonly problem?: undefined }
  | { readonly id: number; readonly problem: string }
