import type { Workspace } from '@ws/core'
import { codeOf } from '@ws/test-fixtures'
import { expect } from 'vitest'
import { answer, within } from './model.ts'
import type { Answer, Names, Right } from './model.ts'
import type { RuleSet } from './rule-sets.ts'

const content = 'needle'

/** Asks the file API everything about a set, and compares with the model. Changes the tree. */
export async function compareWithApi(set: RuleSet, workspace: Workspace, random: () => number): Promise<void> {
  const tree = new Tree(set)
  for (const path of set.asked) {
    const expected = tree.expect(path, 'read')
    expect(refusalOf(await codeOf(workspace.stat(path))), `stat ${path}`).toBe(expected)
    expect(refusalOf(await codeOf(workspace.read(path))), `read ${path}`).toBe(expected)
    expect(refusalOf(await codeOf(workspace.list(path).next())), `list ${path}`).toBe(expected)
  }
  await compareListing(tree, workspace)
  await compareSearch(tree, workspace)
  for (const path of set.asked) {
    const code = await codeOf(workspace.write(path, content))
    expect(refusalOf(code), `write ${path}`).toBe(tree.expectWrite(path))
    if (code === 'done') tree.add(path)
  }
  const everything = [...tree.paths]
  const victim = everything[Math.floor(random() * everything.length)] ?? ''
  const code = await codeOf(workspace.delete(victim, { recursive: true }))
  expect(refusalOf(code), `delete ${victim}`).toBe(tree.expectDelete(victim))
}

async function compareListing(tree: Tree, workspace: Workspace): Promise<void> {
  if (tree.expect('', 'read') !== 'allow') {
    expect(await codeOf(workspace.list('.').next()), 'list the root').toBe('EACCES')
    return
  }
  const entries = await Array.fromAsync(workspace.list('.', { recursive: true, details: true }))
  const listed = entries.map(({ path, version }) => `${path}${version === undefined ? '' : ' described'}`)
  const expected = [...tree.paths]
    .filter((path) => tree.mayReach(path))
    // A mount point is shown as what it is: its store is not asked.
    .map((path) => `${tree.at(path)}${path !== 'm' && tree.expect(path, 'read') === 'allow' ? ' described' : ''}`)
  expect(listed.sort(), 'what is listed').toEqual(expected.sort())
}

async function compareSearch(tree: Tree, workspace: Workspace): Promise<void> {
  if (tree.expect('', 'read') !== 'allow') return
  const expected = [...tree.files].filter((path) => tree.mayReach(path) && tree.expect(path, 'read') === 'allow')
  const hits = await Array.fromAsync(workspace.search(content, { maxHits: expected.length + 1 }))
  expect(hits.map(({ path }) => path).sort(), 'what is found').toEqual(expected.map((path) => tree.at(path)).sort())
}

function refusalOf(code: string): Answer {
  return code === 'EACCES' || code === 'EROFS' ? code : 'allow'
}

/** The tree of the store, and the model's judgement of it. */
export class Tree {
  readonly #set: RuleSet
  readonly files = new Set<string>()
  /** Files and directories. */
  readonly paths = new Set<string>()

  constructor(set: RuleSet) {
    this.#set = set
    for (const file of [...set.files, ...set.mounted]) this.add(file)
  }

  add(file: string): void {
    this.files.add(file)
    const parts = file.split('/')
    for (let length = 1; length <= parts.length; length += 1) this.paths.add(parts.slice(0, length).join('/'))
  }

  names(path: string): Names {
    return [...(this.#set.root === '/' ? [] : ['workspace']), ...(path === '' ? [] : path.split('/'))]
  }

  at(path: string): string {
    return `/${this.names(path).join('/')}`
  }

  expect(path: string, right: Right): Answer {
    return answer(this.#set, this.names(path), right)
  }

  /** Every directory on the way from the root may be entered. */
  mayReach(path: string): boolean {
    return parentsOf(path).every((parent) => this.expect(parent, 'read') === 'allow')
  }

  /** Parents that are missing have to be made, where nothing else is in the way. */
  expectWrite(path: string): Answer {
    const own = this.expect(path, 'write')
    if (own !== 'allow' || parentsOf(path).some((parent) => this.files.has(parent))) return own
    const missing = parentsOf(path).filter((parent) => !this.paths.has(parent))
    return missing.map((parent) => this.expect(parent, 'write')).find((one) => one !== 'allow') ?? 'allow'
  }

  /** A directory can be removed where everything that is below, or that rules name there, can. */
  expectDelete(path: string): Answer {
    const world = { ...this.#set, lookAlikes: false }
    const ask = (names: Names): Answer => answer(world, names, 'write')
    const own = this.names(path)
    if (this.files.has(path) || ask(own) !== 'allow') return ask(own)
    // a pattern says nothing about a name that is missing
    const literal = { ...world, rules: world.rules.filter(({ kind }) => kind !== 'pattern') }
    const named = this.#set.rules.flatMap((rule) =>
      rule.kind === 'entries' ? rule.entries : rule.kind === 'exception' ? [rule.entry] : [],
    )
    const isBelow = (one: Names): boolean => within(one, own)
    const there = [...this.paths].map((one) => this.names(one)).filter(isBelow)
    const missing = named.map(({ at }) => at).filter(isBelow)
    const answers = [...there.map(ask), ...missing.map((one) => answer(literal, one, 'write'))]
    return answers.find((one) => one !== 'allow') ?? 'allow'
  }
}

function parentsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(0, -1).map((_name, index) => parts.slice(0, index + 1).join('/'))
}
