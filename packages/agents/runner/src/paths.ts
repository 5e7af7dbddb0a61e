import { createPathManager, type PathManager } from '@ws/core'

import { asBreach } from './errors.ts'

type Templates = Readonly<Record<string, string | undefined>>

/** The path of the workspace inside a step. Relative paths to read start at this path. */
export const workspaceAt = '/workspace'
/** The path of the staging directory inside a step. Relative paths to write start at this path. */
export const outputAt = '/output'

export interface OutputPlace {
  /** The output's path from the workspace's root, without a leading slash; absent if the output is outside the workspace. */
  readonly inWorkspace?: string | undefined
  readonly name: string
}

/** Resolves the paths of a plan. Steps name files by their real path, not by the path inside the step. */
export interface PlanPaths {
  /** The path from the workspace's root, `""` for the root. @throws WorkspaceError `ESECURITY` outside the tree, here and in `write` */
  read(path: string): string
  write(path: string): string
  expand(text: string): string
  inOutput(input: string): string | undefined
}

export function createPlanPaths(plan: { readonly templates: Templates }, place: OutputPlace): PlanPaths {
  const { inWorkspace, name } = place
  const root = inWorkspace === undefined ? `/outputs/${name}` : `${workspaceAt}/${inWorkspace}`
  const templates = Object.fromEntries(
    Object.entries(plan.templates).map(([key, path]) => [
      key,
      path?.startsWith('/') === false ? `${workspaceAt}/${path}` : path,
    ]),
  )
  const manager = createPathManager({ workspace: workspaceAt, output: root, templates })
  const eyes = createPathManager({ workspace: workspaceAt, output: outputAt, templates })
  const seen = (path: string): string =>
    path === outputAt || path.startsWith(`${outputAt}/`) ? root + path.slice(outputAt.length) : path

  return {
    read: (path) =>
      below(
        workspaceAt,
        guard(() => manager.resolveRead(seen(path))),
      ),
    write: (path) =>
      below(
        root,
        guard(() => manager.resolveWrite(seen(path))),
      ),
    expand: (text) => eyes.expandTemplates(text),
    inOutput(input) {
      if (inWorkspace === undefined) return undefined
      if (input === inWorkspace) return ''
      return input.startsWith(`${inWorkspace}/`) ? input.slice(inWorkspace.length + 1) : undefined
    },
  }
}

function guard(resolve: () => ReturnType<PathManager['resolveRead']>): string {
  try {
    return resolve()
  } catch (error) {
    throw asBreach(error)
  }
}

const below = (root: string, path: string): string => path.slice(root.length + 1)

/** True if `inner` equals `outer` or is below `outer`. Both paths are relative, and `""` is the root. */
export function containsPath(outer: string, inner: string): boolean {
  return outer === '' || outer === inner || inner.startsWith(`${outer}/`)
}

/** Converts a path to the form that a store compares if it ignores case and normalisation. */
export function foldPath(path: string): string {
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')
}
