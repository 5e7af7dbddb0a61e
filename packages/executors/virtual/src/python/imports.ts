import { CallError, numberOf } from './errors.ts'
import { assembly, type Imports, type Module } from './web-assembly.ts'

/** A function for the interpreter. Nothing as its result stands for success. */
export type Call = (...parameters: never[]) => number | bigint | undefined | void

/** Functions that report an error as a negative number. The functions of WASI report a positive one. */
const negative = /^(?:__syscall_|_m(?:map|unmap|sync)_js$)/
const ofWasi = 'wasi_snapshot_preview1'

/** The imports of a module: each function that the module names, and no other. */
export function importsOf(module: Module, calls: Readonly<Record<string, Call>>): Imports {
  const imports: Imports = {}
  for (const { module: from, name } of assembly.Module.imports(module)) {
    const sign = negative.test(name) ? -1 : 1
    const call = calls[name.replace(/^__syscall_/, '')]
    // A missing function outside of both groups returns a pointer or nothing.
    const missing = sign === -1 || from === ofWasi ? sign * numberOf(new CallError('ENOSYS')) : 0
    imports[from] = { ...imports[from], [name]: call === undefined ? () => missing : guarded(call, sign) }
  }
  return imports
}

function guarded(call: Call, sign: number): Call {
  return (...parameters) => {
    try {
      return call(...parameters) ?? 0
    } catch (error) {
      return sign * numberOf(error)
    }
  }
}
