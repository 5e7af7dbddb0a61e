import { decodeText, encodeText } from '@ws/shell-tools/files'

// just-bash converts bytes and text with these two classes. This thread replaces both classes before just-bash loads.
// The replacements keep a byte order mark and bytes that are not UTF-8.

const Decoder = globalThis.TextDecoder
const Encoder = globalThis.TextEncoder
type DecodeParameters = Parameters<InstanceType<typeof Decoder>['decode']>

class CarryingDecoder extends Decoder {
  override decode(...[input, options]: DecodeParameters): string {
    if (this.encoding !== 'utf-8' || input === undefined || input === null || options?.stream === true)
      return super.decode(input, options)
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input)
    return decodeText(bytes)
  }
}

class CarryingEncoder extends Encoder {
  override encode(input = ''): Uint8Array<ArrayBuffer> {
    return new Uint8Array(encodeText(input))
  }

  override encodeInto(source: string, destination: Uint8Array): { read: number; written: number } {
    const bytes = encodeText(source).subarray(0, destination.length)
    destination.set(bytes)
    return { read: source.length, written: bytes.length }
  }
}

globalThis.TextDecoder = CarryingDecoder
globalThis.TextEncoder = CarryingEncoder

// just-bash reads this class while it loads, and Node would load its client for HTTP. No command of this thread sends a request.
Reflect.deleteProperty(globalThis, 'Headers')
