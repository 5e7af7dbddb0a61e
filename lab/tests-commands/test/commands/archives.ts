import { gunzipSync } from 'node:zlib'

const block = 512

/**
 * Gives the content of a gzip file or a tar archive as a text that is equal for equal contents: names, types,
 * permissions, targets and bytes, in any order. Left out are times, and the names of users, which an archive takes from
 * the machine.
 *
 * @returns the content itself for every other file
 */
export function contentOf(content: string): string {
  const bytes = Buffer.from(content, 'latin1')
  const inner = bytes[0] === 0x1f && bytes[1] === 0x8b ? unzipped(bytes) : bytes
  if (inner.subarray(257, 262).toString('latin1') !== 'ustar')
    return inner === bytes ? content : `gzip ${inner.toString('latin1')}`
  return membersOf(inner).sort().join('\n')
}

function unzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes)
  } catch {
    return bytes
  }
}

function membersOf(archive: Buffer): string[] {
  const members: string[] = []
  let longName: string | undefined
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const text = (from: number, length: number) => {
      const field = archive.subarray(at + from, at + from + length)
      const end = field.indexOf(0)
      return field.subarray(0, end < 0 ? length : end).toString('latin1')
    }
    const size = Number.parseInt(text(124, 12), 8) || 0
    const content = archive.subarray(at + block, at + block + size).toString('latin1')
    const type = text(156, 1)
    const header = { name: text(0, 100), prefix: text(345, 155), mode: text(100, 8), target: text(157, 100) }
    at += block + Math.ceil(size / block) * block
    // GNU tar and pax have long names in members of their own.
    if (type === 'L') longName = content.replace(/\0+$/, '')
    else if (type === 'x') longName = /\d+ path=(.*)\n/.exec(content)?.[1] ?? longName
    else {
      const { name, prefix, mode, target } = header
      const path = longName ?? (prefix === '' ? name : `${prefix}/${name}`)
      members.push(JSON.stringify([path, type || '0', Number.parseInt(mode, 8) & 0o7777, target, content]))
      longName = undefined
    }
  }
  return members
}
