import type { FileCommand } from './add.ts'
import { changingCommands } from './changing.ts'
import { lookingCommands } from './looking.ts'

export const fileCommands: readonly FileCommand[] = [...lookingCommands, ...changingCommands]
