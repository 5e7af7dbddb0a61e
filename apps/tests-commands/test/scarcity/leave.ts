import { closeSync, openSync } from 'node:fs'

/** Takes all of something but so much. @returns what gives it back */
export type Leave = (left: number) => GiveBack

type GiveBack = () => void

export const leavers: Readonly<Record<string, Leave>> = { descriptors }

function descriptors(left: number): GiveBack {
  const held: number[] = []
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {
    // These are all.
  }
  for (const fd of held.splice(0, left)) closeSync(fd)
  return () => held.forEach((fd) => closeSync(fd))
}
