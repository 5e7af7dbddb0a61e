import { bytesOf, Output, type Tool } from './tool.ts'

/** The variables that a program gets, in the order in which they were set. */
export const env: Tool = async ({ context }) => {
  const output = new Output()
  for (const [name, value] of Object.entries(context.exportedEnv ?? {})) output.write(bytesOf(`${name}=${value}\n`))
  return output.result()
}

export const printenv: Tool = async (call) => {
  if (call.given.length === 0) return env(call)
  const output = new Output()
  const { exportedEnv = {} } = call.context
  for (const name of call.given) {
    const value = Object.hasOwn(exportedEnv, name) ? exportedEnv[name] : undefined
    if (value === undefined) output.exitCode = 1
    else output.write(bytesOf(`${value}\n`))
  }
  return output.result()
}
