import { WorkspaceError } from '@ws/core'
import { getNativeCause } from '@ws/core/executor'

/** Options of the library that occur in remedies, each with the corresponding option of `ws`. */
const options: readonly (readonly [RegExp, string])[] = [
  [/`overwrite: true`/gu, '`-f`'],
  [/set `all`/gu, 'pass `--all`'],
  [/`oldText`/gu, '`<old>`'],
  [/`owner: \{ uid, gid \}`/gu, '`--owner UID:GID`'],
  [/ \(or pass `create: true`\)/gu, ''],
  [/`acknowledge: \['(.*?)'\]`/gu, "`--acknowledge '$1'`"],
  [/ to the local adapter/gu, ''],
  [/ \(`at: '\/workspace'`\)/gu, ' (`--at /workspace`)'],
  [/`(cwd|owner|require|shell|timeout)`/gu, '`--$1`'],
]

export function ownRemedy(given: string, command: string): string {
  const remedy = given.replaceAll('`recursive: true`', command === 'mkdir' ? '`-p`' : '`-r`')
  return options.reduce((text, [theirs, own]) => text.replaceAll(theirs, own), remedy)
}

export function inOwnWords(error: WorkspaceError, command: string): WorkspaceError {
  if (error.remedy === undefined) return error
  const remedy = ownRemedy(error.remedy, command)
  const reason = command === 'edit' ? error.reason.replaceAll('`oldText`', '`<old>`') : error.reason
  if (remedy === error.remedy && reason === error.reason) return error
  const { code, operation, path, rule, partial, changeId } = error
  return new WorkspaceError({
    ...{ code, operation, path, reason, rule, partial, changeId, remedy },
    native: getNativeCause(error),
  })
}
