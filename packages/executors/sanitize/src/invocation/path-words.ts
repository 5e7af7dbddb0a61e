import { quoteForShell } from '@ws/core/executor'
import type { Word } from '@ws/command-parser'

import { climbs, holdsOption, holdsProblem, lookAt, walkLinks } from '../paths/links.ts'
import { namesOf, type ResolvedPath } from '../paths/path-view.ts'
import { refuse } from '../refusal.ts'
import type { AnalysisContext } from './analysis-context.ts'
import { inDoubleQuotes } from './edits.ts'
import type { Value } from './values.ts'

/** How a program uses a path: `read` and `write` follow a link at its end, `look` and `remove` use the link itself. */
export type Mode = 'read' | 'write' | 'look' | 'remove'

export interface PathRequest {
  readonly word: Word
  readonly value: Value
  readonly mode: Mode
  readonly context: AnalysisContext
}

const globCharacters = /[*?[]/

/** Checks that a word is a path inside the workspace, and maps an absolute path. @returns true if the program gets a host path */
export function mapPath(request: PathRequest): boolean {
  const { word, value } = request
  const { text } = value
  if (text === undefined) return refuse('unknown', word.text)
  if (value.splits && /[\s*?[]|^$/.test(text)) refuse('unknown', word.text, 'put the variable between double quotes')
  if (!value.host && !text.startsWith('/')) {
    checkRelative(text, request)
    return false
  }
  const place = checkPath(text, request)
  if (value.host) return true
  if (place.kind !== 'mount') return false
  replacePrefix(request, place)
  return true
}

/** Replaces the mount's path at the start of a word by the mount's host directory. */
function replacePrefix({ word, value, context }: PathRequest, place: Extract<ResolvedPath, { kind: 'mount' }>): void {
  const { host } = place.mount
  if (value.fixed) {
    context.edits.replace(word.pos, word.end, quoteForShell(host + (value.text ?? '').slice(place.drop)))
    return
  }
  const part = word.parts?.[0]
  const piece = value.pieces[0]
  if (piece?.kind === 'text' && piece.value.length >= place.drop) {
    const rest = piece.value.slice(place.drop)
    // A word with a single piece has no parts.
    const quoted = part?.type === 'DoubleQuoted' ? part.parts[0] : (part ?? word)
    if (quoted === undefined) return refuse('unknown', word.text)
    const text = part?.type === 'DoubleQuoted' ? inDoubleQuotes(host + rest) : quoteForShell(host + rest)
    context.edits.replace(quoted.pos, quoted.end, text)
    return
  }
  if (place.drop > 0) refuse('unknown', word.text)
  context.edits.replace(word.pos, word.pos, quoteForShell(host))
}

/** Checks that a path is inside the workspace. Does not change the word. */
export function checkText(text: string, request: PathRequest): void {
  if (text.startsWith('/')) checkPath(text, request)
  else checkRelative(text, request)
}

/** Returns the meaning of an absolute path, after all checks. */
export function checkPath(text: string, request: PathRequest): ResolvedPath {
  const { word, mode, context } = request
  const { view } = context.settings
  const place = view.resolve(text)
  if (place.kind === 'system') refuse('system', word.text)
  if (place.kind === 'outside') refuse('outside', word.text)
  if (place.kind !== 'mount') {
    if (namesOf(text).includes('..')) refuse('climbs', word.text)
    if ((mode === 'write' || mode === 'remove') && place.kind !== 'device') refuse('system', word.text)
    return place
  }
  if (namesOf(place.inside).includes('..') && context.facts.links) refuse('climbs', word.text)
  checkNames(namesOf(place.inside), place.mount.at, request)
  return place
}

function checkRelative(text: string, request: PathRequest): void {
  const { word, context } = request
  const names = namesOf(text)
  if (text === '' || text === '-') return
  // An earlier command may have replaced a name before `..` by a link.
  if (names.includes('..') && context.facts.links) refuse('climbs', word.text)
  for (const directory of context.place.cwd) {
    const mount = context.settings.view.mountOf(directory)
    if (mount === undefined) return refuse('outside', word.text)
    checkNames([...namesOf(directory.slice(mount.at.length)), ...names], mount.at, request)
  }
}

function checkNames(names: readonly string[], at: string, request: PathRequest): void {
  const { word, value, mode, context } = request
  const { view } = context.settings
  const mount = view.mountOf(at)
  if (mount === undefined) return refuse('outside', word.text)
  const glob = names.findIndex((name) => globCharacters.test(name))
  if (value.glob && names.some((name) => /^\.\.?[*?[@+!]/.test(name))) refuse('climbs', word.text)
  if (value.glob && names.some((name) => /[?*+@!]\(/.test(name))) refuse('construct', word.text)
  // Refuses a missing name before `..`: it could become a link before the command runs.
  let depth = 0
  for (const [index, name] of names.entries()) {
    depth += name === '..' ? -1 : 1
    if (depth < 0) refuse('climbs', word.text)
    if (name === '..' && glob >= 0 && glob < index) refuse('climbs', word.text)
  }
  // With a trailing slash, every program follows the link.
  const keeps = (mode === 'look' || mode === 'remove') && !/\/(?:\.?\/)*\.?$/.test(value.text ?? '')
  const walked = walkLinks(mount.host, names, keeps ? 'keep' : 'follow')
  if (walked === undefined) return refuse('link', word.text)
  const virtual = [at === '/' ? '' : at, ...walked].join('/') || '/'
  if (view.mountOf(virtual)?.at !== at) refuse('mount', word.text)
  if (value.glob && glob >= 0) checkGlob(names, glob, at, mount.host, request)
  // A later pattern could match this name, which would then be an option.
  if (mode === 'write' && names.at(-1)?.startsWith('-') === true) context.facts.links = true
}

/** Checks the matches of a pattern, since they may be links. */
function checkGlob(
  names: readonly string[],
  glob: number,
  at: string,
  host: string,
  { word, value, context }: PathRequest,
): void {
  const depth = names.length - glob + (names.includes('**') ? 20 : 0)
  const base = names.slice(0, glob)
  const virtual = [at === '/' ? '' : at, ...base].join('/') || '/'
  if (depth > 1 && context.settings.view.mountsBelow(virtual).length > 0) refuse('mount', word.text)
  if (holdsProblem(host, base, { depth })) refuse('link', word.text)
  // A matching file name that begins with `-` would be an option.
  const first = globCharacters.test(value.text?.[0] ?? '')
  if (first && (context.facts.links || holdsOption(host, base)))
    refuse('option', word.text, 'put `./` in front of the pattern')
}

export interface TreeOptions {
  /** True to refuse links with `..`, whose targets change if the link is moved. Default false. */
  readonly climbing?: boolean
  /** True if the program follows links inside the directory. Default true. */
  readonly links?: boolean
  /** The depth to which the program walks. Default: unlimited. */
  readonly depth?: number
}

export function checkTree(
  request: PathRequest,
  { climbing = false, links = true, depth = 1000 }: TreeOptions = {},
): void {
  const { word, value, context } = request
  const { view } = context.settings
  if (value.text === undefined) return
  for (const start of startsOf(value.text, request)) {
    const place = view.resolve(start)
    if (place.kind !== 'mount') continue
    const { host, at } = place.mount
    const all = namesOf(place.inside)
    const glob = value.glob ? all.findIndex((name) => globCharacters.test(name)) : -1
    const names = walkLinks(host, glob < 0 ? all : all.slice(0, glob), climbing ? 'keep' : 'follow')
    const virtual = [at === '/' ? '' : at, ...(names ?? [])].join('/') || '/'
    if (view.mountsBelow(virtual).length > 0) refuse('mount', word.text)
    if (!links || names === undefined) continue
    if (climbing && isClimbingLink(host, all)) refuse('link', word.text)
    if (holdsProblem(host, names, { depth, climbing })) refuse('link', word.text)
  }
}

/** Returns true for a relative link with `..`. If it is moved, its target changes. */
function isClimbingLink(host: string, names: readonly string[]): boolean {
  const path = [host, ...(walkLinks(host, names, 'keep') ?? [])].join('/')
  return lookAt(path)?.isSymbolicLink() === true && climbs(path)
}

/** Returns the absolute paths that a path may mean, for each possible working directory. */
export function startsOf(path: string, { context }: Pick<PathRequest, 'context'>): readonly string[] {
  if (path.startsWith('/')) return [path]
  return [...context.place.cwd].map((directory) => `${directory === '/' ? '' : directory}/${path}`)
}

/** Returns the directories to which `cd` can lead with a word: with links followed, and without. */
export function resolveDirectories(request: PathRequest): ReadonlySet<string> {
  const { view } = request.context.settings
  const found = new Set<string>()
  for (const start of startsOf(request.value.text ?? '', request)) {
    const place = view.resolve(start)
    if (place.kind !== 'mount') return refuse('system', request.word.text)
    const { host, at } = place.mount
    const prefix = at === '/' ? '' : at
    found.add([prefix, ...normalise(namesOf(place.inside))].join('/') || '/')
    const names = walkLinks(host, namesOf(place.inside), 'follow')
    if (names !== undefined) found.add([prefix, ...names].join('/') || '/')
  }
  return found
}

function normalise(names: readonly string[]): string[] {
  const done: string[] = []
  for (const name of names) {
    if (name === '..') done.pop()
    else done.push(name)
  }
  return done
}
