import { drawPatternCase } from './patterns.ts'
import type { Random } from './random.ts'

export const kinds: Readonly<Record<string, (random: Random) => string>> = { patterns: drawPatternCase }
