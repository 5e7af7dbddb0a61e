export class Edits {
  readonly #changes: { readonly from: number; readonly to: number; readonly text: string }[] = []

  replace(from: number, to: number, text: string): void {
    this.#changes.push({ from, to, text })
  }

  apply(source: string): string {
    let text = ''
    let at = 0
    for (const change of this.#changes.toSorted((left, right) => left.from - right.from || left.to - right.to)) {
      if (change.from < at) throw new Error('two changes overlap')
      text += source.slice(at, change.from) + change.text
      at = change.to
    }
    return text + source.slice(at)
  }
}

/** Escapes text for double quotes. */
export function inDoubleQuotes(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&')
}
