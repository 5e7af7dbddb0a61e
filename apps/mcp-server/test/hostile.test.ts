/** @module-tag deep */
import { describe, it } from 'vitest'

import { attackHttp, attackStdio } from './support/hostile-clients.ts'

describe('[MC2] 1 GiB of hostile clients, with a heap of 512 MiB', () => {
  it('neither end nor block the server over HTTP', attackHttp)

  it('neither end nor block the server over stdio, also when they take no answers', attackStdio)
})
