export const faceNames = ['file_system', 'split', 'claude-code', 'anthropic', 'openai'] as const

/** A form of the tools that models know. */
export type FaceName = (typeof faceNames)[number]
