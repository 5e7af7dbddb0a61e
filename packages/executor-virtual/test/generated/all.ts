import { drawPatternCase } from './patterns.ts'
import type { Random } from './random.ts'
import { drawArithmetic, drawHereDocument, drawLoop, drawParameter, drawPrintf, drawRead } from './shell.ts'

export const kinds: Readonly<Record<string, (random: Random) => string>> = {
  patterns: drawPatternCase,
  arithmetic: drawArithmetic,
  printf: drawPrintf,
  parameters: drawParameter,
  read: drawRead,
  'here-documents': drawHereDocument,
  loops: drawLoop,
}
