import { describe, expect, it } from 'vitest'

import { diagnose } from '../src/errors.ts'

describe('what rclone says of a store that cannot be reached', () => {
  it.each([
    'dial tcp 127.0.0.1:9: connect: connection refused',
    'read tcp 127.0.0.1:9->127.0.0.1:8: read: connection reset by peer',
    'write tcp 127.0.0.1:9->127.0.0.1:8: write: broken pipe',
    'net/http: HTTP/1.x transport connection broken: http: ContentLength=5 with Body length 0',
    'http: server closed idle connection',
    'write tcp 127.0.0.1:9->127.0.0.1:8: use of closed network connection',
    'net/http: TLS handshake timeout',
    'context deadline exceeded',
    'RequestError: send request failed',
    'unexpected EOF',
  ])('[RP14] %s', (said) => {
    expect(diagnose(`Failed to copy: ${said}`)).toMatchObject({ code: 'EBACKEND' })
  })
})
