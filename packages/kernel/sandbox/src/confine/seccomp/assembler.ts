export interface Instruction {
  readonly code: number
  /** Instructions to skip if the comparison is true, and if it is false. */
  readonly jumpTrue: number
  readonly jumpFalse: number
  readonly value: number
}

const opcode = {
  loadAbsolute: 0x20,
  equal: 0x15,
  greaterOrEqual: 0x35,
  anyBitSet: 0x45,
  and: 0x54,
  return: 0x06,
} as const

function instruction(code: number, value: number, jumpTrue = 0, jumpFalse = 0): Instruction {
  if (jumpTrue > 255 || jumpFalse > 255)
    throw new RangeError('a jump in a BPF program is at most 255 instructions long')
  return { code, value, jumpTrue, jumpFalse }
}

/** Offsets into `struct seccomp_data`. */
const numberOffset = 0
const architectureOffset = 4
const argumentsOffset = 16

export const allow = 0x7fff0000

/** Returns the filter result that refuses a call with this errno. */
export function refuse(errno: number): number {
  return 0x00050000 | errno
}

export function loadArchitecture(): Instruction {
  return instruction(opcode.loadAbsolute, architectureOffset)
}

export function loadNumber(): Instruction {
  return instruction(opcode.loadAbsolute, numberOffset)
}

/** Loads the low 32 bits of an argument. A call reads only these bits of an `int`. Both architectures are little endian. */
export function loadArgument(index: number): Instruction {
  return instruction(opcode.loadAbsolute, argumentsOffset + 8 * index)
}

export function mask(bits: number): Instruction {
  return instruction(opcode.and, bits)
}

export function answer(value: number): Instruction {
  return instruction(opcode.return, value)
}

export function ifEqual(value: number, block: readonly Instruction[]): Instruction[] {
  return [instruction(opcode.equal, value, 0, block.length), ...block]
}

export function unlessEqual(value: number, block: readonly Instruction[]): Instruction[] {
  return [instruction(opcode.equal, value, block.length, 0), ...block]
}

export function ifAtLeast(value: number, block: readonly Instruction[]): Instruction[] {
  return [instruction(opcode.greaterOrEqual, value, 0, block.length), ...block]
}

export function ifAnyBit(bits: number, block: readonly Instruction[]): Instruction[] {
  return [instruction(opcode.anyBitSet, bits, 0, block.length), ...block]
}

/** Encodes each instruction in 8 bytes, little endian: 16 bits code, 8 and 8 bits jumps, 32 bits value. */
export function assemble(program: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(program.length * 8))
  for (const [index, { code, jumpTrue, jumpFalse, value }] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, jumpTrue)
    view.setUint8(index * 8 + 3, jumpFalse)
    view.setUint32(index * 8 + 4, value >>> 0, true)
  }
  return new Uint8Array(view.buffer)
}
