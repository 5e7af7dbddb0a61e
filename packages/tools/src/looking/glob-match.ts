import { compileGlob } from '@ws/core'

/**
 * Whether a path below the directory matches. A glob without `/` is about the name at any depth; one with `/` is about the
 * path below the directory.
 *
 * @throws WorkspaceError `EINVAL` for a glob that is not well-formed
 */
export function createGlobMatch(glob: string): (below: string) => boolean {
  const given = glob.replace(/^(?:\.?\/)+/u, '')
  const compiled = compileGlob(glob.includes('/') ? `/${given}` : glob, { operation: 'find' })
  return (below) => compiled.matches(`/${below}`)
}
