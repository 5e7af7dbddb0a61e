export const faceNames = ['file_system', 'split', 'claude-code', 'anthropic', 'openai'] as const

export type FaceName = (typeof faceNames)[number]
