/** What the published script of a web container says. */
export interface ContainerFacts {
  /** Texts in which addresses may stand. */
  text: string
  /** A tag in it sets Google's consent defaults. */
  setsDefaults: boolean
}

/**
 * A run of backslashes with what it escapes: addresses and HTML stand in texts that stand in texts. Every run is a match as a
 * whole: were it one only before a slash, each of its backslashes would be tried as the first.
 */
const ESCAPES = /\\+(\/|u003[cCeEdD]|u0026|x26|x3[dD])?/g

const ESCAPED: Readonly<Record<string, string>> = { u003c: '<', u003e: '>', u003d: '=', x3d: '=', u0026: '&', x26: '&' }

/**
 * Looks for what tags in a container would do. A template calls `setDefaultConsentState`, which it has to ask for; a tag of
 * HTML makes the call that a page would make.
 */
export function containerFacts(script: string): ContainerFacts {
  const text = script.replace(ESCAPES, (run, code?: string) =>
    code === undefined ? run : (ESCAPED[code.toLowerCase()] ?? code),
  )
  return {
    text,
    setsDefaults:
      /"require",\s*"setDefaultConsentState"/.test(text) ||
      // A permission that a template asks for; Google's own program has the name elsewhere.
      /"access_consent":\s*\{/.test(text) ||
      /consent\\*['"]\s*,\s*\\*['"]default/.test(text),
  }
}
