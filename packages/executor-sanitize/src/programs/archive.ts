import { type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { refuse } from '../refusal.ts'
import { has, parseArguments } from './grammar.ts'

const tarOptions =
  '-f=write --file=write -C=read --directory=read -T! --files-from! -X=read --exclude-from=read --exclude: -b: -L: -N: -V: -H: --format: --mode: --mtime: --owner: --group: --strip-components: --sort: --label: --totals~ --checkpoint~ --xattrs-include: --xattrs-exclude: --use-compress-program! -I! --to-command! --checkpoint-action! --info-script! --new-volume-script! -F! --rsh-command! --rmt-command! -P! --absolute-names! --transform! --xform! -g=write --listed-incremental=write --one-top-level~ --suffix: --backup~ -K: --starting-file: --newer: --after-date: --volno-file!'

/** `tar`: the archive and its directory are paths. Members are stored by the name they are given. */
export function tar(call: Invocation): Outcome {
  const [first] = call.args
  const bundle = first === undefined ? undefined : textOf(first)
  if (first !== undefined && bundle !== undefined && /^[A-Za-z]+$/.test(bundle)) return bundled(call, bundle)
  const parsed = parseArguments(call, tarOptions)
  // `-czf x`: the letter that makes an archive can be at any place in the bundle.
  return members(call, {
    creates: has(parsed, '-c', '--create', '-r', '--append', '-u', '--update'),
    extracts: has(parsed, '-x', '--extract', '--get'),
    follows: has(parsed, '-h', '--dereference'),
    elsewhere: has(parsed, '-C', '--directory'),
    shows: has(parsed, '-v', '--verbose'),
    operands: parsed.operands,
  })
}

/** The old form: letters first, their values after them in the same order. */
function bundled(call: Invocation, letters: string): Outcome {
  if (/[^cxtrufzjJvkpmhOSaWo]/.test(letters)) return call.refuse('option', call.args[0])
  let index = 1
  if (letters.includes('f')) {
    const archive = call.args[index++]
    if (archive !== undefined) call.path(archive, 'write')
  }
  const rest = call.from(index)
  const parsed = parseArguments(rest, tarOptions)
  return members(rest, {
    creates: /[cru]/.test(letters),
    extracts: letters.includes('x'),
    follows: letters.includes('h') || has(parsed, '-h', '--dereference'),
    elsewhere: has(parsed, '-C', '--directory'),
    shows: letters.includes('v'),
    operands: parsed.operands,
  })
}

interface Members {
  readonly creates: boolean
  readonly extracts: boolean
  readonly follows: boolean
  /** `-C` was given. */
  readonly elsewhere: boolean
  readonly shows: boolean
  readonly operands: Invocation['args']
}

function members(call: Invocation, { creates, extracts, follows, elsewhere, shows, operands }: Members): Outcome {
  for (const operand of operands) {
    if (!creates) {
      call.text(operand)
      continue
    }
    if (operand.value.host || operand.value.text?.startsWith('/') !== false) {
      refuse('stored', operand.word.text, 'pack relative names: tar -C DIRECTORY NAME')
    }
    if (elsewhere && operand.value.text?.split('/').includes('..') !== false) refuse('climbs', operand.word.text)
    if (!elsewhere) call.path(operand, 'look')
    if (!elsewhere) call.tree(operand, { links: follows })
    else if (follows) refuse('option', operand.word.text)
  }
  // Members can be links, which this analysis does not see.
  if (extracts) Object.assign(call.context.facts, { links: true, unchecked: true })
  return call.done({ prints: shows && call.hosts && creates })
}
