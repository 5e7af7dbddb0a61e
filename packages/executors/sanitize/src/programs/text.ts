import { type Grammar, has } from './grammar.ts'

const firstOrLast: Pick<Grammar, 'operands' | 'prints' | 'passes'> = {
  operands: 'read',
  prints: 'several',
  passes: (parsed) => !has(parsed, 'c'),
}

export const textPrograms: Readonly<Record<string, Grammar>> = {
  cat: {
    options: 'A|show-all b|number-nonblank e E|show-ends n|number s|squeeze-blank t T|show-tabs u v|show-nonprinting',
    operands: 'read',
    prints: 'never',
    passes: true,
  },
  head: { options: '# n|lines: c|bytes: q|quiet|silent v|verbose z|zero-terminated', ...firstOrLast },
  tail: {
    options: '# n|lines: c|bytes: q|quiet|silent v|verbose z|zero-terminated f follow~ F retry s|sleep-interval: pid:',
    ...firstOrLast,
  },
  wc: {
    options: 'l|lines c|bytes w|words m|chars L|max-line-length total:',
    operands: 'read',
    passes: (parsed) => has(parsed, 'l') && !has(parsed, 'c', 'w', 'm', 'L'),
  },
  sort: {
    options:
      'b|ignore-leading-blanks d|dictionary-order f|ignore-case g|general-numeric-sort h|human-numeric-sort i|ignore-nonprinting M|month-sort n|numeric-sort R|random-sort r|reverse V|version-sort c|check~ C k|key: m|merge o|output=write s|stable S|buffer-size: t|field-separator: T|temporary-directory=write u|unique z|zero-terminated batch-size: parallel: sort: random-source=read',
    operands: 'read',
    prints: 'never',
    passes: (parsed) => !has(parsed, 'k', 'o'),
  },
  uniq: {
    options:
      'c|count d|repeated D all-repeated~ f|skip-fields: group~ i|ignore-case s|skip-chars: u|unique w|check-chars: z|zero-terminated',
    prints: 'never',
    passes: ({ values, operands }) => values.size === 0 && operands.length < 2,
    operands(call, { operands: [input, output] }) {
      if (input !== undefined) call.path(input, 'read')
      if (output !== undefined) call.path(output, 'write')
    },
  },
  cut: {
    options:
      'b|bytes: c|characters: d|delimiter: f|fields: n complement s|only-delimited output-delimiter: z|zero-terminated',
    operands: 'read',
    prints: 'never',
  },
  tr: {
    options: 'c|C|complement d|delete s|squeeze-repeats t|truncate-set1',
    operands: (call, { operands }) => operands.forEach((operand) => call.text(operand)),
  },
  diff: {
    options:
      'a|text b|ignore-space-change B|ignore-blank-lines c C: context~ d|minimal e|ed E|ignore-tab-expansion F|show-function-line: H|speed-large-files i|ignore-case I|ignore-matching-lines: L: label: N|new-file n|rcs p|show-c-function q|brief r|recursive s|report-identical-files t|expand-tabs T|initial-tab u U: unified~ w|ignore-all-space W|width: x|exclude: X|exclude-from=read y|side-by-side Z|ignore-trailing-space color~ from-file=read to-file=read left-column no-dereference strip-trailing-cr suppress-common-lines tabsize:',
    // `diff` opens a directory's entries and follows their links, with or without `-r`.
    operands(call, { operands, values }) {
      for (const operand of operands) {
        call.path(operand, 'read')
        call.tree(operand)
      }
      for (const { argument, text } of [...(values.get('from-file') ?? []), ...(values.get('to-file') ?? [])])
        call.check(text ?? call.refuse('unknown', argument), argument, 'read')
    },
  },
}
