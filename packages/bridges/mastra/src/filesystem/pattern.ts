const blanks = String.raw`\t-\r \x{FEFF}\p{Z}`
/** Characters that stand for themselves after a backslash in JavaScript. */
const plain = new Set(['/', '-', '_', ' ', '"', "'", '#', '%', '&', ',', ':', ';', '<', '=', '>', '@', '`', '~', '!'])

/** The pattern in RE2's syntax with JavaScript's meaning; `undefined` if impossible. */
export function translatePattern(pattern: string): string | undefined {
  let translated = ''
  let inClass = false
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern.charAt(index)
    if (character !== '\\') {
      // only RE2 has classes such as `[[:alpha:]]`, and only JavaScript treats `[]` and `[^]` as whole classes
      if (inClass && character === '[') translated += String.raw`\[`
      else translated += character
      if (!inClass && character === '[') {
        inClass = true
        if (/^\^?\]/u.test(pattern.slice(index + 1))) return undefined
      } else if (inClass && character === ']') inClass = false
      continue
    }
    index += 1
    const escaped = pattern.charAt(index)
    if (escaped === 's') translated += inClass ? blanks : `[${blanks}]`
    else if (escaped === 'S') {
      if (inClass) return undefined
      translated += `[^${blanks}]`
    } else if (/[AzZCQEapPuckxhHRXGK]/u.test(escaped) || /[0-9]/u.test(escaped)) return undefined
    else if (inClass && escaped === 'b') return undefined
    else translated += plain.has(escaped) ? (inClass && escaped === '-' ? String.raw`\-` : escaped) : `\\${escaped}`
  }
  // JavaScript compiles the pattern first, so both engines accept the pattern
  return isJavaScript(pattern) && !/\(\?(?![:=!<])/u.test(pattern) ? translated : undefined
}

function isJavaScript(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}
