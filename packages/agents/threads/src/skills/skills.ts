import { isWorkspaceError, paths, WorkspaceError, type VirtualPath, type Workspace } from '@ws/core'

import { readSkillFile } from './frontmatter.ts'
import { scanForSkills } from './scan.ts'
import type { ActivatedSkill, Skill, SkillList } from './types.ts'

export interface SkillSource {
  readonly source: Skill['source']
  readonly path: VirtualPath
}

const maxSkillBytes = 1024 * 1024
const plainName = /^(?!-)(?!.*--)[a-z0-9-]{1,64}(?<!-)$/

export async function listSkills(
  workspace: Workspace,
  sources: readonly SkillSource[],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<SkillList> {
  const found = new Map<string, Skill>()
  const warnings: string[] = []
  for (const { source, path } of sources) {
    const { folders, complete } = await scanForSkills(workspace, path, signal)
    if (!complete) warnings.push(`\`${path}\` has too many directories: the rest were not searched for skills`)
    for (const folder of folders) {
      const skill = await readSkill(workspace, folder, source, warnings, signal)
      if (skill === undefined) continue
      const other = found.get(skill.name)
      if (other !== undefined)
        warnings.push(`\`${skill.location}\` replaces \`${other.location}\`, which has the same name`)
      found.set(skill.name, skill)
    }
  }
  const skills = [...found.values()].sort((left, right) => (left.name < right.name ? -1 : 1))
  return { skills, warnings }
}

/** The catalogue of skills for a model's prompt, in the form of the standard. Empty without skills. */
export function formatCatalogue(skills: readonly Skill[]): string {
  if (skills.length === 0) return ''
  const entries = skills.map(
    ({ name, description, location }) =>
      `  <skill>\n    <name>${escape(name)}</name>\n    <description>${escape(description)}</description>\n    <location>${escape(location)}</location>\n  </skill>\n`,
  )
  return `<available_skills>\n${entries.join('')}</available_skills>\n`
}

export async function activateSkill(
  workspace: Workspace,
  { skills }: SkillList,
  name: string,
): Promise<ActivatedSkill> {
  const skill = skills.find((known) => known.name === name)
  if (skill === undefined) {
    const names = skills.map((known) => `\`${known.name}\``).join(', ')
    throw new WorkspaceError({
      code: 'ENOENT',
      operation: 'activate',
      path: name,
      reason: 'is not a skill of this thread',
      remedy: names === '' ? 'there are no skills' : `choose one of ${names}`,
    })
  }
  const { body } = readSkillFile(await workspace.readText(skill.location, { maxBytes: maxSkillBytes }))
  return { ...skill, body }
}

async function readSkill(
  workspace: Workspace,
  folder: VirtualPath,
  source: Skill['source'],
  warnings: string[],
  signal: AbortSignal | undefined,
): Promise<Skill | undefined> {
  const location = `${folder}/SKILL.md` as VirtualPath
  let text: string
  try {
    text = await workspace.readText(location, { maxBytes: maxSkillBytes, signal })
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    warnings.push(`\`${location}\` was left out: ${error.reason}`)
    return undefined
  }
  const { frontmatter, problem } = readSkillFile(text)
  if (frontmatter === undefined) {
    warnings.push(`\`${location}\` was left out: it ${problem ?? 'cannot be read'}`)
    return undefined
  }
  const folderName = paths.baseName(folder)
  const { name = folderName, ...rest } = frontmatter
  if (name !== folderName) warnings.push(`\`${location}\` has the name \`${name}\`, and its folder another`)
  else if (!plainName.test(name)) warnings.push(`\`${location}\` has a name that is not 1 to 64 of \`a-z0-9-\``)
  return { name, ...rest, path: folder, location, source }
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
