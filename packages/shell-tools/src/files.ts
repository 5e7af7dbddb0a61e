// This entry point is for threads that use files without tools: the tools would load jq.
export { codeOf, errorWords, FileError, isFileError } from './errors.ts'
export { childOf, nameOf, parentOf, tidyPath, withoutSlash } from './paths.ts'
export { decodeText, encodeText, hasForeignBytes } from './text.ts'
