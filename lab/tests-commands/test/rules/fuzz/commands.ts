import { quoteForShell } from '@ws/core/executor'
import type { Workspace } from '@ws/core'
import { expect } from 'vitest'
import { answer, isUnderPattern, looksDenied, within } from './model.ts'
import type { Names, Right } from './model.ts'
import type { RuleSet } from './rule-sets.ts'

/** Prints of each path what it is, whether it can be read, and whether it can be written or made. */
const script = (paths: readonly string[]): string => `
for p in ${paths.map((path) => quoteForShell(path)).join(' ')}; do
  type=missing read=no write=no
  if [ -d "$p" ]; then type=directory; ls -A "$p" > /dev/null 2>&1 && read=yes
  elif [ -e "$p" ]; then type=file; cat "$p" > /dev/null 2>&1 && read=yes; { : >> "$p"; } 2> /dev/null && write=yes
  else { : > "$p"; } 2> /dev/null && { write=yes; rm "$p"; }
  fi
  echo "$type $read $write $p"
done
`

/** Lets one command try everything about a set, and compares with the model. */
export async function compareWithCommand(set: RuleSet, workspace: Workspace): Promise<void> {
  const names = (path: string): Names => [...(set.root === '/' ? [] : ['workspace']), ...path.split('/')]
  const at = (path: string): string => `/${names(path).join('/')}`
  const there = [...set.files, ...set.mounted]
  const exists = (path: string): boolean => there.some((file) => file === path || file.startsWith(`${path}/`))
  const allows = (path: string, right: Right): boolean => answer(set, names(path), right) === 'allow'
  const literal = { ...set, rules: set.rules.filter(({ kind }) => kind !== 'pattern') }
  const ruled = set.rules.flatMap((rule) =>
    rule.kind === 'entries' ? rule.entries.map((entry) => entry.at) : rule.kind === 'exception' ? [rule.entry.at] : [],
  )

  const result = await workspace.exec(script(set.asked.map(at)), { shell: 'bash', login: false, timeout: 60_000 })
  expect(result.exitCode, result.stderr).toBe(0)
  const lines = result.stdout.trimEnd().split('\n')
  expect(lines.map((line) => line.split(' ').slice(3).join(' '))).toEqual(set.asked.map(at))
  for (const [index, path] of set.asked.entries()) {
    const [type, read, write] = lines[index]?.split(' ') ?? []
    if (exists(path)) {
      // A denied directory on the way to an allowed place shows that way, and nothing else.
      const isWay = ruled.some((one) => within(one, names(path)) && answer(literal, one, 'read') === 'allow')
      if (allows(path, 'read') || !isWay) {
        expect(`reads ${path}: ${read}`).toBe(`reads ${path}: ${yes(allows(path, 'read'))}`)
      }
      // Below what is covered nothing is seen.
      if (read === 'yes') expect(`${path} ${type}`).toBe(`${path} ${typeOf(there, path)}`)
      const isWritten = there.includes(path) || type === 'missing'
      if (isWritten) expect(`writes ${path}: ${write}`).toBe(`writes ${path}: ${yes(allows(path, 'write'))}`)
      continue
    }
    const parent = path.split('/').slice(0, -1).join('/')
    if (parent !== '' && (!exists(parent) || there.includes(parent))) continue
    // A missing name is held by literal rules only. The way to a name that is kept free is a directory meanwhile.
    const free = set.rules.some((rule) => rule.kind === 'pattern' && isUnderPattern(rule, names(path)))
    if (free || looksDenied(set, names(path)) || ruled.some((one) => within(one, names(path)))) {
      if (!allows(path, 'write') && !free && !looksDenied(set, names(path)))
        expect(`makes ${path}: ${write}`).toBe(`makes ${path}: no`)
      continue
    }
    expect(`makes ${path}: ${write}`).toBe(`makes ${path}: ${yes(allows(path, 'write'))}`)
  }
}

function typeOf(files: readonly string[], path: string): string {
  return files.includes(path) ? 'file' : 'directory'
}

function yes(allowed: boolean): string {
  return allowed ? 'yes' : 'no'
}
