import { bytesOf, Output } from '@ws/shell-tools'

import type { ScriptTool } from '../call.ts'
import { runProgram } from './run-program.ts'

export const env: ScriptTool = async (call) => {
  const { context, host } = call
  const output = new Output()
  const words = [...call.given]
  let variables: Record<string, string> = { ...context.exportedEnv }
  for (let word = words[0]; word !== undefined && word.startsWith('-'); word = words[0]) {
    words.shift()
    if (word === '--') break
    if (word === '-i' || word === '-' || word === '--ignore-environment') variables = {}
    else if (word === '-u' || word.startsWith('--unset=') || /^-u./.test(word)) {
      const name = word === '-u' ? words.shift() : word.replace(/^(?:-u|--unset=)/, '')
      Reflect.deleteProperty(variables, name ?? '')
    } else host.refuse(`env ${word}`, 'use -i, -u NAME and NAME=VALUE')
  }
  for (let word = words[0]; word?.includes('=') === true; word = words[0]) {
    words.shift()
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
    variables[name] = value
  }
  if (words.length > 0) return runProgram(call, words, context.stdin, { variables })
  for (const [name, value] of Object.entries(variables)) output.write(bytesOf(`${name}=${value}\n`))
  return output.result()
}

export const printenv: ScriptTool = async (call) => {
  if (call.given.length === 0) return env({ ...call, given: [] })
  const output = new Output()
  const { exportedEnv = {} } = call.context
  for (const name of call.given) {
    const value = Object.hasOwn(exportedEnv, name) ? exportedEnv[name] : undefined
    if (value === undefined) output.exitCode = 1
    else output.write(bytesOf(`${value}\n`))
  }
  return output.result()
}
