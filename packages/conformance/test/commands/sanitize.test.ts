import { createSanitizeExecutor } from '@ws/executor-sanitize'

import { compareWithBubblewrap, inExecutor } from './suite.ts'

compareWithBubblewrap({
  name: 'sanitize',
  components: ['perl', 'bash'],
  create: inExecutor(() => createSanitizeExecutor()),
  leastRun: 0.6,
})
