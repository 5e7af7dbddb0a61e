import { cut } from './cut.ts'
import { find } from './find/find.ts'
import { ls } from './ls.ts'
import { sort } from './sort.ts'
import { head, tac, tail, uniq, wc } from './text.ts'
import type { Tool } from './tool.ts'
import { tr } from './tr.ts'
import { xargs } from './xargs.ts'

/** Commands of our own: those of just-bash give other results too often to be of use. */
export const tools: Readonly<Record<string, Tool>> = { cut, find, head, ls, sort, tac, tail, tr, uniq, wc, xargs }
