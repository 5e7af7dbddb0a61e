/** Names of code and data files: there a fence around the whole content is a slip of the model [FS6]. */
const proseFiles = /\.(?:md|mdx|markdown|rst|txt|adoc|org)$/iu

/** The content without one markdown fence around all of it; for code and data files only. */
export function stripFence(path: string, content: string): { readonly content: string; readonly stripped: boolean } {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const match = /^\s*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?\1[ \t]*\s*$/u.exec(content)
  if (proseFiles.test(name) || !name.includes('.') || match === null) return { content, stripped: false }
  const [, fence = '', inner = ''] = match
  if (inner.split('\n').some((line) => line.trimStart().startsWith(fence))) return { content, stripped: false }
  return { content: inner === '' || inner.endsWith('\n') ? inner : `${inner}\n`, stripped: true }
}
