import { WorkspaceError } from '@ws/core'
import type { IPty, spawn } from '@lydell/node-pty'

/** The part of the library that is used. The library's types omit `fd`, the master's descriptor. */
export interface Pseudoterminal extends IPty {
  readonly fd: number
}

export interface PseudoterminalLibrary {
  readonly spawn: (...options: Parameters<typeof spawn>) => Pseudoterminal
}

let loading: Promise<PseudoterminalLibrary> | undefined

/** Loads the native library for the first terminal. @throws WorkspaceError `ENOTSUP` if this platform has none */
export function loadLibrary(): Promise<PseudoterminalLibrary> {
  loading ??= import('@lydell/node-pty').then(
    (library) => ((library as { readonly default?: unknown }).default as PseudoterminalLibrary) ?? library,
    (native: unknown) => {
      loading = undefined
      throw new WorkspaceError({
        code: 'ENOTSUP',
        operation: 'openSession',
        reason: `there is no terminal library for ${process.platform} on ${process.arch}`,
        remedy: 'install the optional dependencies too (`npm install --include=optional`), or use `exec`',
        native,
      })
    },
  )
  return loading
}
