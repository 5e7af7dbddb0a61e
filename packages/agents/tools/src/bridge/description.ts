import type { Workspace } from '@ws/core'

/** Lists the facts about a workspace that a model needs: root, mounts, commands, rules. */
export function describeWorkspace({ root, mounts, executor }: Workspace): string {
  const readOnly = mounts.filter(({ access }) => access === 'read-only').map(({ at }) => at)
  return [
    `Files and commands share one tree. Relative paths and commands start in ${root}.`,
    ...(mounts.length > 1 ? [`Directories: ${mounts.map(({ at }) => at).join(', ')}.`] : []),
    ...(readOnly.length > 0 ? [`Read-only: ${readOnly.join(', ')}.`] : []),
    ...(executor === undefined ? [] : ['Each command runs in a POSIX shell of its own.']),
    ...(executor?.lacks === undefined ? [] : [executor.lacks]),
    'Rules may refuse an access; the error says why, and how to go on.',
  ].join(' ')
}
