/** Numbers in practice. It is shown in messages, and the watched server writes it. */
const VERSION = /^[\w.-]{1,40}$/

/**
 * Returns the published version in the text of `gtm.js`; null when it has none. The script starts with an object whose
 * `resource` contains it as `"version":"42"`. Tags, templates and consent settings have versions of their own further on, and
 * strings may contain anything, so only a key of `resource` itself counts. The text may end anywhere.
 */
export function publishedVersion(script: string): string | null {
  let depth = 0
  /** Depth of the keys of `resource`; null before it. */
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
      if (key === 'version' && depth === inside) return VERSION.test(token.slice(1)) ? token.slice(1) : null
      key = token.slice(1)
    }
  }
  return null
}

/**
 * Yields brackets, colons and commas unchanged, and strings as `"` with their content; leaves out comments and everything
 * else. Stops where the end of the text cuts off a string or a comment.
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

/** Position of the closing quote; -1 without one. */
function endOfString(script: string, start: number): number {
  const quote = script[start]
  for (let at = start + 1; at < script.length; at++) {
    if (script[at] === '\\') at++
    else if (script[at] === quote) return at
  }
  return -1
}

/**
 * Parameters that only a loader of an environment or a preview has. They are in the snippet's text or in a URL, where `&` may
 * be written as `&amp;` or `\x26`. A loader has them one after the other.
 */
const PARAMETERS = /(?:[?&;]|\\x26|\\u0026)(gtm_preview|gtm_auth|gtm_debug)=([\w-]{0,64})/g

/** The *Live* environment is number 1 in every container: its snippet loads the published version, with its own key. */
const LIVE = 'env-1'

export interface Environment {
  parameters: string[]
  /** Name of the environment, preferably one that is not live; null without one. */
  environment: string | null
  /** Everything on the page loads the published version. */
  isLive: boolean
}

/** Returns the parameters in a page's text, without their values: `gtm_auth` is a key. Only the environment's name is kept. */
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
