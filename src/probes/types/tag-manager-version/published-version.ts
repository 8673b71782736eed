/**
 * The published version in the text of `gtm.js`, null when there is none. The script starts with an object whose `resource`
 * has it as `"version":"42"`. Tags, templates and consent settings further on have versions of their own, and strings may
 * hold whatever people wrote: so only a key of `resource` itself counts. The text may end anywhere.
 */
export function publishedVersion(script: string): string | null {
  let depth = 0
  /** How deep the keys of `resource` are; null before it. */
  let inside: number | null = null
  let key: string | null = null
  for (const token of tokensOf(script)) {
    if (token === '{' || token === '[') {
      depth++
      if (inside === null && token === '{' && key === 'resource') inside = depth
      key = null
    } else if (token === '}' || token === ']') {
      depth--
      if (inside !== null && depth < inside) return null
    } else if (token === ',') {
      key = null
    } else if (token !== ':') {
      if (key === 'version' && depth === inside) return token.slice(1)
      key = token.slice(1)
    }
  }
  return null
}

/** Brackets, colons and commas as they are, strings as `"` and their content; comments and everything else are left out. */
function* tokensOf(script: string): Generator<string> {
  // The last alternative of each kind takes what is cut off by the end of the text.
  const pattern =
    /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|'([^'\\]*(?:\\[\s\S][^'\\]*)*)'|["'][\s\S]*$|[{}[\]:,]/g
  for (const match of script.matchAll(pattern)) {
    const content = match[1] ?? match[2]
    if (content !== undefined) yield `"${content}`
    else if (/^[{}[\]:,]$/.test(match[0])) yield match[0]
  }
}
