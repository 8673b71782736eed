/** What the published script of a web container tells. */
export interface ContainerFacts {
  /** Texts in which addresses may stand. */
  text: string
  /** A tag in it sets Google's consent defaults. */
  setsDefaults: boolean
}

/**
 * Looks for what tags in a container would do. A template calls `setDefaultConsentState`, which it has to ask for; a tag of
 * HTML makes the call that a page would make.
 */
export function containerFacts(script: string): ContainerFacts {
  const text = script
    .replace(/\\+\//g, '/')
    .replace(/\\+u003[cC]/g, '<')
    .replace(/\\+u003[eE]/g, '>')
    .replace(/\\+u0026|\\+x26/g, '&')
    .replace(/\\+x3[dD]|\\+u003[dD]/g, '=')
  return {
    text,
    setsDefaults:
      /"require",\s*"setDefaultConsentState"/.test(text) ||
      // A permission that a template asks for; Google's own program has the name elsewhere.
      /"access_consent":\s*\{/.test(text) ||
      /consent\\*['"]\s*,\s*\\*['"]default/.test(text),
  }
}
