import { createProotExecutor } from '@ws/executor-proot'

import { compareWithBubblewrap, inExecutor } from './suite.ts'

compareWithBubblewrap({
  name: 'proot',
  components: ['proot'],
  create: inExecutor(() => createProotExecutor()),
  leastRun: 1,
  deepOnly: true,
})
