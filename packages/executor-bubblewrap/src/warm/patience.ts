const steps = 5

/**
 * Waits for as many milliseconds, in steps. A machine that was suspended meanwhile has waited for one step only: what it
 * has to say is read first.
 *
 * @returns to be cleared by `clearInterval`
 */
export function afterSilence(milliseconds: number, then: () => void): NodeJS.Timeout {
  let left = steps
  const timer = setInterval(() => {
    left--
    if (left > 0) return
    clearInterval(timer)
    then()
  }, milliseconds / steps)
  return timer
}
