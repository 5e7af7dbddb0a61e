import { processesWith } from '@ws/test-fixtures'

/** Host processes whose command line has the token. */
export function survivors(token: string): string[] {
  return processesWith(token).map(({ pid, commandLine }) => `${pid} ${commandLine}`)
}

/** Processes that hold terminals open for a process: their command line names it. */
export function holders(pid: number): string[] {
  return survivors('0x5422').filter((line) => line.includes(` -- ${pid} `))
}

/** Waits until no process is left, for as long as an end may take; then returns the survivors. */
export async function noneLeft(find: () => string[]): Promise<string[]> {
  for (let attempt = 0; attempt < 100 && find().length > 0; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return find()
}

export const stubborn = (token: string): string =>
  [
    `bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done' ${token}-term &`,
    `setsid bash -c 'while :; do sleep 1; done' ${token}-setsid &`,
    `(setsid bash -c 'bash -c "while :; do sleep 1; done" ${token}-double &' &);`,
  ].join(' ')
