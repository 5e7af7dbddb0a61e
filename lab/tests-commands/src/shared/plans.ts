import { type Rule, rules } from '@ws/core'

import { renameat2 } from '../racer.ts'

/** A workspace on the shared directory. Add a plan for each new part of the host that works in places that commands can reach. */
export interface SharedPlan {
  readonly name: string
  readonly at: string
  /** Rules with missing names: each command makes the host reserve and remove these names. */
  readonly rules: readonly Rule[]
}

export const sharedPlans: readonly SharedPlan[] = [
  { name: 'one name', at: '/workspace', rules: [rules.deny('/workspace/.env')] },
  {
    name: 'names below missing ones',
    at: '/workspace',
    rules: [rules.deny('/workspace/.env'), rules.readOnly('/workspace/.git/hooks'), rules.deny('/workspace/a/b/c')],
  },
  { name: 'the mount points of a root', at: '/', rules: [rules.deny('/keys/id')] },
]

/** A command that exchanges temporary names for links to outside targets, for a second, and prints a line for each exchange. */
export function exchangingCommand(targets: readonly string[], seed: number): string {
  const script = String.raw`
my ($call, $seed, @targets) = @ARGV; srand($seed); my ($until, $n) = (time() + 1, 0);
sub swap { my ($place) = @_; my $link = "link-$$-" . $n++; symlink($targets[rand @targets], $link) or return;
  syscall($call + 0, -100, $link, -100, $place, 2) == 0 ? print "exchanged\n" : unlink $link }
while (time() <= $until) { opendir(my $d, '.') or last;
  for my $name (readdir $d) { if (-l $name) { unlink $name unless $name =~ /^link-/; next }
    next unless $name =~ /^\.ws-tmp-/;
    if (rand() < 0.3 && opendir(my $below, $name)) { swap("$name/$_") for grep { !/^\.\.?$/ } readdir $below } else { swap($name) } } }`
  const words = ['perl', '-e', script, String(renameat2[process.arch] ?? -1), String(seed), ...targets]
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
}
