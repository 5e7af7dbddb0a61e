// For threads that handle files without tools, which would load jq.
export { codeOf, errorWords, FileError, isFileError } from './errors.ts'
export { childOf, nameOf, parentOf, tidyPath, withoutSlash } from './paths.ts'
export { decodeText, encodeText, hasForeignBytes } from './text.ts'
