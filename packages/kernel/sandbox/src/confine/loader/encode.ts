/** A key and its value. A value may contain any bytes. */
export type Field = readonly [key: string, value: string | number | Uint8Array]

/** Encodes each key and value as length (32 bits, little endian) and bytes: perl's `(V/a)*`. */
export function encodeFields(fields: readonly Field[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const part of fields.flat()) {
    const bytes = typeof part === 'object' ? part : Buffer.from(String(part))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    parts.push(length, bytes)
  }
  return Buffer.concat(parts)
}
