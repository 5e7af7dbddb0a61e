import { decodeText, hasForeignBytes, type ToolResult } from '@ws/shell-tools'

const foreign = /[^\0-\x7f]/u
/** Bytes of output that is not UTF-8 and still becomes text: just-bash's limit counts three for each byte of it. */
const mostForeign = 1024 * 1024

/**
 * The result with text in place of bytes. just-bash puts standard output and errors into one another as they are, and measures
 * both as text: bytes would come out as other characters, or end the script with `invalid stdout accounting`.
 */
export function asText(result: ToolResult): ToolResult {
  const { stdoutKind, stdoutEncoding, ...rest } = result
  const { stdout, stderr } = rest
  const isBytes = stdoutKind === 'bytes' || (stdoutKind === undefined && stdoutEncoding === 'binary')
  if (!isBytes || !(foreign.test(stdout) || foreign.test(stderr))) return result
  const text = decodeText(Buffer.from(stdout, 'latin1'))
  if (stderr === '' && stdout.length > mostForeign && hasForeignBytes(text)) return result
  return { ...rest, stdout: text, stdoutKind: 'text' }
}

/** True for output that {@link asText} leaves as bytes: it would come out as other characters on standard error. */
export function isLeftAsBytes({ stdout, stdoutKind }: ToolResult): boolean {
  return stdoutKind === 'bytes' && stdout.length > mostForeign && foreign.test(stdout)
}
