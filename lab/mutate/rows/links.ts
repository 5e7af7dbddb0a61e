import type { Mutations } from '../types.ts'

export const linkMutations: Mutations = {
  'a write through a link at a name under a rule, or above one (`.vscode -> data/vs`)': [
    {
      removes: 'rules by pattern',
      text: 'refusePattern(pattern, request, isNamed)',
      by: 'undefined',
      title: 'hold for',
    },
    {
      removes: 'the limit to rules that name the link: areas count',
      text: 'segmentsOf(at).length >= depth',
      by: 'segmentsOf(at).length >= 0 * depth',
      title: 'leave links alone',
    },
  ],
  'a link under a rule that a command turns elsewhere, for the next program': [
    {
      removes: 'the comparison',
      text: 'wayOf(trace, withType) === way',
      by: 'wayOf(trace, withType) !== undefined',
      test: 'lab/tests-commands/test/rules/turned-links.test.ts',
    },
  ],
  'a link that a command makes at a name under a rule, so that no other command can run (`ln -s . .env`)': [
    {
      removes: 'the look at what the target holds',
      text: 'links.some((link) => isWithin(link.path, landed))',
      by: 'false',
      title: 'refuse no command',
    },
    {
      removes: 'the report of what is not covered',
      text: 'const why = uncovered ??',
      by: 'const why =',
      test: 'lab/tests-commands/test/rules/turned-links.test.ts',
    },
  ],
  'a copy over a link in the interpreter, which would find the target by itself': [
    {
      removes: 'the write through the link',
      text: 'await this.#door.write(destination, stream,',
      by: 'await this.#door.write(await this.realpath(destination), stream,',
      title: 'hold for each way',
    },
  ],
}
