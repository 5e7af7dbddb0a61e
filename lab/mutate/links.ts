import type { Mutation } from './types.ts'

const written = 'a write through a link at a name under a rule, or above one (`.vscode -> data/vs`)'
const target = 'a link at a name under a rule, whose target is read or written by any of its names'
const turned = 'a link under a rule that a command turns elsewhere, for the next program'
const locking = 'a link that a command makes at a name under a rule, so that no other command can run (`ln -s . .env`)'
const coverLinks = 'packages/kernel/core/src/commands/binds/cover-links.ts'
const api = 'lab/tests-files/test/rules/links.test.ts'
const plan = 'packages/kernel/core/test/commands/compile-binds.test.ts'
const links = 'lab/tests-commands/test/rules/turned-links.test.ts'

/** Rules on names that are links. */
export const linkMutations: readonly Mutation[] = [
  {
    row: written,
    removes: 'the refusal at the link',
    file: 'packages/kernel/core/src/mount/walk.ts',
    text: '        if (named !== undefined) throw named\n',
    test: { file: api, title: 'hold for' },
  },
  {
    row: written,
    removes: 'rules by pattern',
    file: 'packages/kernel/core/src/policy/declared-rules.ts',
    text: 'refusePattern(pattern, request, isNamed)',
    by: 'undefined',
    test: { file: api, title: 'hold for' },
  },
  {
    row: written,
    removes: 'the limit to rules that name the link: areas count',
    file: 'packages/kernel/core/src/policy/declared-rules.ts',
    text: 'segmentsOf(at).length >= depth',
    by: 'segmentsOf(at).length >= 0 * depth',
    test: { file: api, title: 'leave links alone' },
  },
  {
    row: target,
    removes: 'the refusal of a path that runs through a link to nowhere',
    file: coverLinks,
    text: 'if (covered === false && name.isPattern !== true && ',
    by: 'if (false && ',
    test: { file: plan, title: 'runs through a link to nowhere' },
  },
  {
    row: target,
    removes: 'the bind of the target',
    file: coverLinks,
    text: '  bindPart(list, {',
    by: '  if (list.binds.length < 0) bindPart(list, {',
    test: { file: plan, title: 'bind the target' },
  },
  {
    row: target,
    removes: 'the look at names below a link',
    file: 'packages/kernel/core/src/commands/binds/pattern-walk.ts',
    text: 'for (const passage of found.passages)',
    by: 'for (const passage of found.passages.slice(found.passages.length))',
    test: { file: plan, title: 'by the name of a link above them' },
  },
  {
    row: turned,
    removes: 'the comparison',
    file: coverLinks,
    text: 'wayOf(trace, withType) === way',
    by: 'wayOf(trace, withType) !== undefined',
    test: { file: links },
  },
  {
    row: locking,
    removes: 'the look at what the target holds',
    file: coverLinks,
    text: 'links.some((link) => isWithin(link.path, landed))',
    by: 'false',
    test: { file: plan, title: 'refuse no command' },
  },
  {
    row: locking,
    removes: 'the report of what is not covered',
    file: coverLinks,
    text: 'const why = uncovered ??',
    by: 'const why =',
    test: { file: links },
  },
  {
    row: 'a copy over a link in the interpreter, which would find the target by itself',
    removes: 'the write through the link',
    file: 'packages/executors/virtual/src/files/workspace.ts',
    text: 'await this.#door.write(destination, stream,',
    by: 'await this.#door.write(await this.realpath(destination), stream,',
    test: { file: 'packages/executors/virtual/test/ruled-links.test.ts', title: 'hold for each way' },
  },
]
