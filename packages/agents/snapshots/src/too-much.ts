import { failed } from '@ws/tree/disk'

export function tooMuch(): Error {
  return failed(
    'EDQUOT',
    'the checkpoint would need more than `maxBytes`, and nothing was saved',
    'raise `maxBytes`, lower `maxFileBytes`, or mount a smaller directory',
  )
}
