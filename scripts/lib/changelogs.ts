import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { manifestOf, publicFolders } from './packed.ts'
import { capture, repositoryRoot } from './run.ts'

/** Applies changesets to versions and changelogs, in a clone of the last commit. The clone's directory must not exist. */
export function tryChangelogs(clone: string): { readonly version: string; readonly problems: readonly string[] } {
  capture('git', ['clone', '--quiet', repositoryRoot, clone])
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  capture('changeset', ['version'], { cwd: clone })
  const folders = publicFolders()
  const packed = JSON.parse(
    capture('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', ...folders.map((folder) => `./${folder}`)], {
      cwd: clone,
    }),
  ) as { name: string; version: string; files: { path: string }[] }[]
  const old = manifestOf(join(repositoryRoot, folders[0] ?? '')).version
  const problems = packed.flatMap(({ name, version, files }) => [
    ...(files.some(({ path }) => path === 'CHANGELOG.md') ? [] : [`${name}: ${version} would have no CHANGELOG.md`]),
    ...(version === old ? [`${name}: stays ${version}, while changesets wait`] : []),
  ])
  return { version: packed[0]?.version ?? old, problems }
}
