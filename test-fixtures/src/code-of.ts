/** The code of the promise's error, or `done`. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'done'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}
