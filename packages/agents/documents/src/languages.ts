export const languages = ['python', 'typescript', 'tsx', 'javascript'] as const

export type Language = (typeof languages)[number]

const extensions: Readonly<Record<string, Language>> = {
  py: 'python',
  pyi: 'python',
  ts: 'typescript',
  mts: 'typescript',
  cts: 'typescript',
  tsx: 'tsx',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
}

/** The language of a file by its extension; `undefined` if unsupported. */
export function languageOf(path: string): Language | undefined {
  const extension = /\.([a-z]+)$/iu.exec(path)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(extensions, extension) ? extensions[extension] : undefined
}
