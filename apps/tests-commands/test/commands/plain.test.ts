import { createPlainRunner } from './executors.ts'
import { compareWithBubblewrap } from './suite.ts'

/** Paths that mean something else without a view, or nothing. */
const namesPlaces =
  /(?:^|[\s"'=<>(|:])[/~]|\$\(pwd|\$\{?(?:HOME|PWD|OLDPWD)|\bpwd\b|mktemp|realpath|readlink -f|cd\s*(?:$|[;&])/m

compareWithBubblewrap({
  name: 'plain',
  components: ['bash'],
  create: createPlainRunner,
  runs: (line) => !namesPlaces.test(line),
  leastRun: 1,
  deepOnly: true,
})
