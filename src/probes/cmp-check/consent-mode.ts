import type { ConsentDefault } from './default-call.ts'
import type { Page } from './page.ts'
import { isContainerScript, isGoogleTag, type ScriptFacts } from './script-facts.ts'

/** The consents of Google's consent mode version 2, which added the last two. */
const CONSENT_KEYS = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const

/** What a page does before measurement begins. Positions are characters in the page. */
export interface ConsentMode {
  defaults: readonly ConsentDefault[]
  /** Whether a string contains defaults, which may be code that runs some other way. */
  mentionsDefault: boolean
  /** Where measurement begins; null when nothing in the page's own text begins it. */
  starts: { what: string; at: number } | null
}

/** @param facts of the page's inline scripts, in page order */
export function consentMode(page: Page, facts: readonly { at: number; facts: ScriptFacts }[]): ConsentMode {
  const inPage = (at: number, place: number | null): number | null => (place === null ? null : at + place)
  const containers = [
    ...facts.map(({ at, facts }) => inPage(at, facts.containerAt)),
    ...page.scripts.map(({ src, at }) => (src !== null && isContainerScript(src) ? at : null)),
  ]
  const commands = facts.map(({ at, facts }) => inPage(at, facts.commandAt))
  const googleTags = page.scripts.filter(({ src }) => src !== null && isGoogleTag(src))
  const hasCommand = commands.some((at) => at !== null)
  // An async Google tag waits for the page's commands and then runs them in order.
  const waiting = googleTags.filter(({ isAsync }) => isAsync && hasCommand)
  const starts = [
    ...containers.map((at) => ({ what: 'the container snippet', at })),
    ...commands.map((at) => ({ what: 'the first measurement command', at })),
    ...googleTags.filter((tag) => !waiting.includes(tag)).map(({ at }) => ({ what: 'the Google tag', at })),
  ]
  return {
    defaults: facts.flatMap(({ at, facts }) => facts.defaults.map((call) => ({ ...call, at: at + call.at }))),
    mentionsDefault: facts.some(({ facts }) => facts.mentionsDefault),
    starts: starts.reduce<ConsentMode['starts']>(
      (first, { what, at }) => (at === null || (first !== null && first.at <= at) ? first : { what, at }),
      null,
    ),
  }
}

/** The keys that no default sets; empty while part of the defaults is unknown. */
export function missingKeys(defaults: readonly ConsentDefault[]): string[] {
  if (defaults.some(({ isWhole }) => !isWhole)) return []
  return CONSENT_KEYS.filter((key) => defaults.every(({ values }) => !Object.hasOwn(values, key)))
}

/** Other keys that a default may set, in Google's spelling. */
const OTHER_KEYS = ['functionality_storage', 'personalization_storage', 'security_storage', 'wait_for_update', 'region']
const SHOWN_DEFAULTS = 5

/** For details: only known keys, because a page may contain anything. */
export const shownMode = ({ defaults, starts }: ConsentMode) => ({
  starts,
  defaults: defaults.slice(0, SHOWN_DEFAULTS).map(({ at, values, isWhole }) => ({
    at,
    is_whole: isWhole,
    values: Object.fromEntries(
      [...CONSENT_KEYS, ...OTHER_KEYS]
        .filter((key) => Object.hasOwn(values, key))
        .map((key) => [key, values[key]?.slice(0, 40) ?? null]),
    ),
  })),
})
