import { isWorkspaceError } from '@ws/core'
import { escapeUnprintable } from '@ws/core/executor'

/** Prints one line on standard error, escaped for a terminal. The message of a foreign error may contain host paths. */
export function reportError(error: unknown): void {
  const text = isWorkspaceError(error)
    ? error.message
    : error instanceof Error
      ? `${error.name}: ${error.message}`
      : 'unknown'
  process.stderr.write(`ws mcp: ${escapeUnprintable(text).slice(0, 1_000)}\n`)
}
