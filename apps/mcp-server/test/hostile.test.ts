import { describe, it } from 'vitest'

import { attackHttp, attackStdio } from './support/hostile-clients.ts'

const mebibyte = 1024 * 1024

describe('[MC2] hostile clients, with a heap of 512 MiB', { tags: ['deep'], timeout: 240_000 }, () => {
  it('neither end nor block the server over HTTP', () => attackHttp({ bytes: mebibyte, copies: 1 }))

  it('neither end nor block the server over stdio, also when they take no answers', () =>
    attackStdio({ bytes: mebibyte, copies: 1, calls: 2_000 }))
})

describe('[MC2] 1 GiB of hostile clients, with a heap of 512 MiB', { tags: ['deep'] }, () => {
  const bytes = 512 * mebibyte

  it('neither end nor block the server over HTTP', () => attackHttp({ bytes, copies: 8 }))

  it('neither end nor block the server over stdio, also when they take no answers', () =>
    attackStdio({ bytes, copies: 8, calls: 20_000 }))
})
