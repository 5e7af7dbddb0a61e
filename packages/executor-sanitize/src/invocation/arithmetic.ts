/**
 * True for an expression of numbers alone. The text of a variable would be read as code: `a[$(command)]` runs its command.
 */
export function isArithmetic(text: string): boolean {
  return !/[`'"\\[(]|(?<![\w#])[A-Za-z_]|\$[^#?$]/.test(text)
}
