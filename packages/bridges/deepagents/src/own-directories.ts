import type { Workspace } from '@ws/core'
import type { BackendProtocolV2 } from 'deepagents'

/** Directories to which deepagents itself writes large results and summaries. */
const ownDirectories = ['/large_tool_results', '/conversation_history'] as const

/** Matches a path at or below one of `ownDirectories`. */
export const ownPath = /^\/+(?:large_tool_results|conversation_history)(?:\/|$)/u
const placed = /\/tmp(\/(?:large_tool_results|conversation_history)\b)/gu

/** Moves deepagents' own directories to `/tmp` if the workspace refuses these directories. The agent sees the original names. */
export function withOwnDirectories(
  workspace: Workspace,
  files: Required<BackendProtocolV2>,
): Required<BackendProtocolV2> {
  const decisions = new Map<string, Promise<boolean>>()

  function isElsewhere(directory: string): Promise<boolean> {
    const decided = decisions.get(directory) ?? isRefused(workspace, `${directory}/file`)
    decisions.set(directory, decided)
    return decided
  }

  async function placeOf(path: string): Promise<string> {
    const directory = ownPath.test(path) ? ownDirectories.find((own) => path.includes(own)) : undefined
    return directory !== undefined && (await isElsewhere(directory)) ? `/tmp/${path.replace(/^\/+/u, '')}` : path
  }

  /** Runs `call` with the real path, and returns its answer with the names that the agent uses. */
  async function about<Answer extends object>(path: string, call: (place: string) => Answer | Promise<Answer>) {
    const place = await placeOf(path)
    const answer = await call(place)
    return place === path ? answer : named(answer)
  }

  return {
    ls: (path) => about(path, (place) => files.ls(place)),
    read: (path, offset, limit) => about(path, (place) => files.read(place, offset, limit)),
    readRaw: (path) => about(path, (place) => files.readRaw(place)),
    write: (path, content) => about(path, (place) => files.write(place, content)),
    delete: (path) => about(path, (place) => files.delete(place)),
    edit: (path, old, replacement, all) => about(path, (place) => files.edit(place, old, replacement, all)),
    glob: (pattern, path) =>
      path === undefined ? files.glob(pattern) : about(path, (place) => files.glob(pattern, place)),
    grep: (pattern, path, glob, maxCount) =>
      path === undefined || path === null
        ? files.grep(pattern, path, glob, maxCount)
        : about(path, (place) => files.grep(pattern, place, glob, maxCount)),
    uploadFiles: async (given) => {
      const placedFiles = await Promise.all(
        given.map(async ([path, content]): Promise<[string, Uint8Array]> => [await placeOf(path), content]),
      )
      const answers = await files.uploadFiles(placedFiles)
      return answers.map((answer, index) => ({ ...answer, path: given[index]?.[0] ?? answer.path }))
    },
    downloadFiles: async (paths) => {
      const answers = await files.downloadFiles(await Promise.all(paths.map(placeOf)))
      return answers.map((answer, index) => ({ ...answer, path: paths[index] ?? answer.path }))
    },
  }
}

async function isRefused(workspace: Workspace, path: string): Promise<boolean> {
  try {
    return (await workspace.explain({ operation: 'write', path })).effect === 'deny'
  } catch {
    return false // the call itself reports the error, such as a closed workspace
  }
}

/** Replaces directory names in paths and messages, but not in contents. */
function named<Answer extends object>(answer: Answer): Answer {
  const renamed: Record<string, unknown> = Object.fromEntries(Object.entries(answer))
  for (const key of ['path', 'error']) {
    if (typeof renamed[key] === 'string') renamed[key] = renamed[key].replaceAll(placed, '$1')
  }
  for (const key of ['files', 'matches']) {
    if (Array.isArray(renamed[key])) renamed[key] = renamed[key].map((entry: object) => named(entry))
  }
  return renamed as Answer
}
