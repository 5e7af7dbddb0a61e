import { describe, expect, it } from 'vitest'

import { createStripper } from '../src/strip.ts'
import type { ViewMount } from '../src/paths/path-view.ts'

const mount = (at: string, host: string) => ({ at, host, access: 'read-write' }) as ViewMount
const mounts = [mount('/', '/srv/ws'), mount('/skills', '/srv/ws-skills'), mount('/tmp', '/var/t1')]

function strip(chunks: readonly Uint8Array[], list = mounts): Buffer {
  const stripper = createStripper(list)
  return Buffer.concat([...chunks.map((chunk) => stripper.push(chunk)), stripper.end()])
}

const text = (input: string, list?: ViewMount[]) => strip([Buffer.from(input)], list).toString()

describe('createStripper', () => {
  it('[PC9] puts the workspace’s paths in the place of this machine’s', () => {
    expect(text('/srv/ws/a.txt\n/srv/ws\n/srv/ws/\n')).toBe('/a.txt\n/\n/\n')
    expect(text("cat: '/srv/ws/x': gone; ‘/srv/ws’, /srv/ws-skills/s, /var/t1/t.")).toBe(
      "cat: '/x': gone; ‘/’, /skills/s, /tmp/t.",
    )
    expect(text('-I/srv/ws/inc:file:///srv/ws/b')).toBe('-I/inc:file:///b')
    expect(text('/srv/ws/a', [mount('/workspace', '/srv/ws')])).toBe('/workspace/a')
  })

  it('leaves what only begins in the same way', () => {
    for (const same of ['/srv/ws2/a', '/srv/wsx', '/srv/ws_a', '/srv/w', '/srv', 'srv/ws', '//srv//ws'])
      expect(text(same)).toBe(same)
  })

  it('does not depend on how the stream is cut', () => {
    const input = Buffer.from('a /srv/ws/b /srv/ws-skills/c /srv/ws\n/srv/w /var/t1')
    const whole = strip([input]).toString()
    expect(whole).toBe('a /b /skills/c /\n/srv/w /tmp')
    for (let first = 0; first <= input.length; first++) {
      for (let second = first; second <= input.length; second += 3) {
        const parts = [input.subarray(0, first), input.subarray(first, second), input.subarray(second)]
        expect(strip(parts).toString()).toBe(whole)
      }
    }
    expect(strip([...input].map((byte) => Uint8Array.of(byte))).toString()).toBe(whole)
  })

  it('leaves bytes alone that are not text', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919 + (index >> 3)) & 255))
    for (const size of [1, 7, 4096, 100_000]) {
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      expect(strip(parts).equals(bytes)).toBe(true)
    }
    expect(strip([Buffer.from('\xff\x00/srv/ws/a\x00\xfe', 'latin1')]).toString('latin1')).toBe('\xff\x00/a\x00\xfe')
  })

  it('keeps back no more than a possible beginning', () => {
    const stripper = createStripper(mounts)
    expect(Buffer.from(stripper.push(Buffer.from('prompt> '))).toString()).toBe('prompt> ')
    expect(Buffer.from(stripper.push(Buffer.from('/sr'))).toString()).toBe('')
    expect(Buffer.from(stripper.push(Buffer.from('x'))).toString()).toBe('/srx')
  })
})
