/**
 * Extracts the loader from proot. Otherwise proot would write the loader to `/tmp` on each run: Landlock forbids that, and after a kill the
 * file would remain. With PROOT_LOADER, proot writes no file. @returns `undefined` if `proot` contains no loader in the usual form
 */
export function extractLoader(proot: Buffer): Buffer | undefined {
  const own = proot.readUInt16LE(18)
  for (let at = proot.indexOf(magic, 1); at >= 0; at = proot.indexOf(magic, at + 1)) {
    const is64Bit = proot[at + 4] === 2
    if (!is64Bit || at + headerBytes > proot.length || proot.readUInt16LE(at + 18) !== own) continue
    // The section headers are at the end of the file.
    const sections = proot.readBigUInt64LE(at + 40)
    const bytes = Number(sections) + proot.readUInt16LE(at + 58) * proot.readUInt16LE(at + 60)
    if (sections > 0n && bytes > headerBytes && at + bytes <= proot.length) return proot.subarray(at, at + bytes)
  }
  return undefined
}

const magic = Buffer.from('\x7fELF', 'latin1')
const headerBytes = 64
