import { Output } from '@ws/shell-tools'
import { decodeText } from '@ws/shell-tools/files'

import type { ScriptTool } from '../call.ts'
import type { RunPython } from '../remote-files.ts'

/** Errors of programs that need more than the interpreter has. */
const lacking =
  /No module named|start new thread|support processes|Function not implemented|Non-recoverable error|_ssock|unknown url type/
const lacks =
  'python3: this python has its standard library alone: no pip and no packages, no other programs, threads, sockets, event loops of asyncio, ssl, sqlite3, lzma or ctypes\n'

/** The commands `python3` and `python`. The workspace's process starts the interpreter, in a thread of its own. */
export function pythonWith(run: RunPython): ScriptTool {
  return async (call) => {
    const { given, context, host } = call
    const { pieces, hasRead, exitCode, problem } = await run({
      // The workspace keeps no compiled modules.
      words: ['/usr/bin/python3', '-B', ...given],
      env: context.exportedEnv ?? {},
      cwd: context.cwd,
      stdin: Buffer.from(context.stdin, 'latin1'),
      timeout: host.timeLeft,
    })
    if (hasRead) host.noteInput(call)
    const output = new Output()
    for (const { descriptor, bytes } of pieces) {
      if (descriptor === 1) output.write(Buffer.from(bytes).toString('latin1'))
      else output.note(decodeText(bytes))
    }
    if (problem !== undefined) output.note(`python3: ${problem}\n`)
    const errors = pieces.filter(({ descriptor }) => descriptor === 2).map(({ bytes }) => bytes)
    if (exitCode !== 0 && lacking.test(decodeText(Buffer.concat(errors.slice(-20))))) output.note(lacks)
    output.exitCode = exitCode
    return output.result()
  }
}
