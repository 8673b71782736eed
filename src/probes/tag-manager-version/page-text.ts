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

/**
 * Brackets, colons and commas as they are, strings as `"` and their content; comments and everything else are left out. Ends
 * where a string or a comment is cut off by the end of the text.
 */
function* tokensOf(script: string): Generator<string> {
  for (let at = 0; at < script.length; at++) {
    const char = script.charAt(at)
    if ('{}[]:,'.includes(char)) yield char
    else if (char === '"' || char === "'") {
      const end = endOfString(script, at)
      if (end === -1) return
      yield `"${script.slice(at + 1, end)}`
      at = end
    } else if (char === '/') {
      const mark = { '/': '\n', '*': '*/' }[script.charAt(at + 1)]
      if (mark === undefined) continue
      const end = script.indexOf(mark, at + 2)
      if (end === -1) return
      at = end + mark.length - 1
    }
  }
}

/** Where the closing quote stands; -1 without one. */
function endOfString(script: string, start: number): number {
  const quote = script[start]
  for (let at = start + 1; at < script.length; at++) {
    if (script[at] === '\\') at++
    else if (script[at] === quote) return at
  }
  return -1
}

/**
 * Parameters that a loader only has when it loads an environment or a preview. They stand in the snippet's text or in a URL, where
 * `&` may be written as `&amp;` or `\x26`. One loader has them one after the other.
 */
const PARAMETERS = /(?:[?&;]|\\x26|\\u0026)(gtm_preview|gtm_auth|gtm_debug)=([\w-]{0,64})/g

/** The environment *Live* has the number 1 in each container: its snippet loads what is published, with a key that goes with it. */
const LIVE = 'env-1'

export interface Environment {
  parameters: string[]
  /** Its name, of one that is not what is published where there is any; null without one. */
  environment: string | null
  /** All that is loaded is what is published. */
  isLive: boolean
}

/** The parameters in a page's text; never their values, except the environment's name: `gtm_auth` is a key. */
export function environmentOf(html: string): Environment {
  const found = [...html.matchAll(PARAMETERS)]
  const parameters = [...new Set(found.map(([, name = '']) => name))].sort()
  const environments = found.flatMap(([, name, value = '']) => (name === 'gtm_preview' ? [value] : []))
  const other = environments.find((name) => name !== LIVE)
  return {
    parameters,
    environment: other ?? environments[0] ?? null,
    isLive: other === undefined && !parameters.includes('gtm_debug') && (environments.length > 0 || found.length === 0),
  }
}
