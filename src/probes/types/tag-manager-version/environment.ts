/**
 * Parameters that a loader only has when it loads an environment or a preview instead of what is published. They stand in the
 * snippet's text or in a URL, where `&` may be written as `&amp;` or `\x26`.
 */
const PARAMETERS = /(?:[?&;]|\\x26|\\u0026)(gtm_preview|gtm_auth|gtm_debug)=([\w-]{0,64})/g

export interface Environment {
  parameters: string[]
  /** Its name; null without one. */
  environment: string | null
}

/** The parameters in a page's text; never their values, except the environment's name: `gtm_auth` is a key. */
export function environmentOf(html: string): Environment {
  const found = new Map<string, string>()
  for (const [, name = '', value = ''] of html.matchAll(PARAMETERS)) if (!found.has(name)) found.set(name, value)
  return { parameters: [...found.keys()].sort(), environment: found.get('gtm_preview') ?? null }
}
