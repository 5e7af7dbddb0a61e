export interface SystemCall {
  readonly architecture: number
  readonly number: number
  readonly arguments?: readonly (number | bigint)[]
}

/** Runs a classic BPF program on one system call, as the kernel would; the answer is `allow` or an errno. */
export function evaluate(program: Uint8Array, call: SystemCall): 'allow' | number {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number >>> 0, true)
  data.setUint32(4, call.architecture, true)
  for (const [index, argument] of (call.arguments ?? []).entries())
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(argument)), true)
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength)
  let accumulator = 0
  for (let at = 0; at * 8 < program.length; at++) {
    const value = code.getUint32(at * 8 + 4, true)
    const jump = (holds: boolean) => {
      at += code.getUint8(at * 8 + (holds ? 2 : 3))
    }
    switch (code.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(value, true)
        break
      case 0x54:
        accumulator = (accumulator & value) >>> 0
        break
      case 0x15:
        jump(accumulator === value)
        break
      case 0x35:
        jump(accumulator >= value)
        break
      case 0x45:
        jump((accumulator & value) !== 0)
        break
      case 0x06:
        if (value === 0x7fff0000) return 'allow'
        if (value >>> 16 === 5) return value & 0xffff
        throw new Error(`unexpected answer ${value.toString(16)}`)
      default:
        throw new Error('unknown instruction')
    }
  }
  throw new Error('the program ran off its end')
}
