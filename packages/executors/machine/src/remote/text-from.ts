import type { Machine } from '../contract.ts'

/** The standard output of a program, a character for each byte. */
export async function textFrom(machine: Machine, argv: readonly string[]): Promise<string> {
  const { stdout, stderr, wait } = await machine.start(argv)
  const chunks: Uint8Array[] = []
  const read = async () => {
    for await (const chunk of stdout) chunks.push(chunk)
  }
  const skip = async () => {
    for await (const _chunk of stderr);
  }
  await Promise.all([read(), skip(), wait()])
  return Buffer.concat(chunks).toString('latin1')
}
