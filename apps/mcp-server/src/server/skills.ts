import { SkillsExtension, type SkillFileEntry, type SkillFiles } from '@modelcontextprotocol/server/ext/skills'
import type { Workspace } from '@ws/core'

import { reportError } from '../report.ts'
import type { OpenedWorkspace, SkillFolder } from '../types.ts'

/** The skills for the skills extension; `undefined` without skills. */
export async function loadSkills(opened: OpenedWorkspace): Promise<SkillsExtension | undefined> {
  const { skills } = (await opened.listSkills?.()) ?? { skills: [] }
  if (skills.length === 0) return undefined
  return SkillsExtension.load(filesOf(opened, skills), {
    onWarning: ({ path, message }) => reportError(new Error(`skill ${path}: ${message}`)),
  })
}

/** The folders directly below a directory, for `listSkills`; an empty list for a missing directory. */
export async function findSkills(workspace: Workspace, directory: string): Promise<{ skills: SkillFolder[] }> {
  const skills: SkillFolder[] = []
  if (!(await workspace.exists(directory))) return { skills }
  for await (const { name, path, type } of workspace.list(directory)) {
    if (type === 'directory' && (await workspace.exists(`${path}/SKILL.md`))) skills.push({ name, path })
  }
  return { skills }
}

/** Access to the files of all skills. Each skill's folder appears under the skill's name. */
function filesOf({ workspace }: OpenedWorkspace, skills: readonly SkillFolder[]): SkillFiles {
  const folders = new Map(skills.map(({ name, path }) => [name, path]))
  const placeOf = (path: string): string => {
    const [name = '', ...rest] = path.split('/')
    return [folders.get(name) ?? `/${name}`, ...rest].join('/')
  }
  return {
    async list(directory) {
      if (directory === '') return [...folders.keys()].map((name) => ({ name, kind: 'directory' as const }))
      const entries: SkillFileEntry[] = []
      for await (const { name, type } of workspace.list(placeOf(directory))) {
        entries.push({ name, kind: type === 'file' || type === 'directory' ? type : 'unsupported' })
      }
      return entries
    },
    read: async (path) => (await workspace.read(placeOf(path))).bytes,
  }
}
