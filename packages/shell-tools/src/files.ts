// For threads that handle files and run no tool: the tools bring jq's loader, which they need not have.
export { codeOf, errorWords, FileError, isFileError } from './errors.ts'
export { childOf, nameOf, parentOf, tidyPath, withoutSlash } from './paths.ts'
export { decodeText, encodeText, hasForeignBytes } from './text.ts'
