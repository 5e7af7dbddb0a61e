/**
 * Extracts the loader inside proot. On each run proot would write the loader to `/tmp`: Landlock forbids that, and a kill would leave the
 * file. PROOT_LOADER prevents the write. @returns `undefined` if `proot` contains no loader in the usual form
 */
export function extractLoader(proot: Buffer): Buffer | undefined {
  const own = proot.readUInt16LE(18)
  for (let at = proot.indexOf(magic, 1); at >= 0; at = proot.indexOf(magic, at + 1)) {
    const is64Bit = proot[at + 4] === 2
    if (!is64Bit || at + headerBytes > proot.length || proot.readUInt16LE(at + 18) !== own) continue
    // The section headers end the file.
    const sections = proot.readBigUInt64LE(at + 40)
    const bytes = Number(sections) + proot.readUInt16LE(at + 58) * proot.readUInt16LE(at + 60)
    if (sections > 0n && bytes > headerBytes && at + bytes <= proot.length) return proot.subarray(at, at + bytes)
  }
  return undefined
}

const magic = Buffer.from('\x7fELF', 'latin1')
const headerBytes = 64
