// Node's types lack WebAssembly.

/** A compiled program, which threads can share. */
export type Module = object

export type Imports = Record<string, Record<string, (...parameters: never[]) => unknown>>

interface WebAssemblies {
  readonly Module: {
    new (bytes: Uint8Array): Module
    imports(module: Module): readonly { readonly module: string; readonly name: string }[]
  }
  readonly Instance: new (module: Module, imports: Imports) => { readonly exports: object }
}

export const { WebAssembly: assembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblies }

/** The part of CPython that this package calls. */
export interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  readonly __indirect_function_table: { get(index: number): unknown }
  readonly __wasm_call_ctors: () => void
  readonly __main_argc_argv: (count: number, words: number) => number
  readonly __funcs_on_exit: () => void
  readonly _emscripten_stack_restore: (top: number) => void
  readonly fflush: (stream: number) => number
  readonly malloc: (size: number) => number
}
