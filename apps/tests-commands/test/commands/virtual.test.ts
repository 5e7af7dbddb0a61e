import { createVirtualExecutor } from '@ws/executor-virtual'

import { compareWithBubblewrap, inExecutor } from './suite.ts'

compareWithBubblewrap({
  name: 'virtual',
  components: [],
  create: inExecutor(() => createVirtualExecutor()),
  ownPrograms: true,
  leastRun: 0.6,
})
