import type { Page } from './page.ts'

/** What of an address comes after this text; empty when it is not in it. */
const after = (mark: string, address: string): string => {
  const at = address.indexOf(mark)
  return at === -1 ? '' : address.slice(at + mark.length)
}

interface Challenge {
  name: string
  titles?: RegExp
  /** Of one script of the page. */
  hasScript?: (address: string) => boolean
  words?: readonly string[]
}

/** Pages that stand in for the real one until a browser has proved to be one. */
const CHALLENGES: readonly Challenge[] = [
  {
    name: 'Cloudflare',
    titles: /^(just a moment|attention required! \| cloudflare|please wait\.\.\. \| cloudflare)/i,
    // Real pages behind Cloudflare have other scripts of this path.
    hasScript: (address) => /chl_page|orchestrate/.test(after('/cdn-cgi/challenge-platform/', address)),
    words: ['_cf_chl_opt'],
  },
  { name: 'Imperva', hasScript: (address) => address.includes('/_Incapsula_Resource') },
  { name: 'DataDome', hasScript: (address) => /^https?:\/\/(ct|geo)\.captcha-delivery\.com\//.test(address) },
  { name: 'HUMAN', titles: /^access to this page has been denied/i, words: ['_pxAppId', '_pxBlockedUrl'] },
  {
    name: 'AWS WAF',
    hasScript: (address) => after('.awswaf.com/', address).includes('/challenge.js'),
    words: ['gokuProps'],
  },
]

/** Every word of them. */
export const CHALLENGE_WORDS: readonly string[] = CHALLENGES.flatMap(({ words = [] }) => words)

/** Headers by which a challenge names itself. */
const HEADERS: readonly { name: string; header: string; value: RegExp }[] = [
  { name: 'Cloudflare', header: 'cf-mitigated', value: /challenge/ },
  { name: 'AWS WAF', header: 'x-amzn-waf-action', value: /challenge|captcha/ },
  { name: 'DataDome', header: 'x-datadome', value: /protected/ },
]

/** Whose challenge a page is instead of what it should be; null when it is none. */
function challengeOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  page: Page,
  words: ReadonlySet<string>,
): string | null {
  const byHeader = HEADERS.find(({ header, value }) => value.test(headers[header] ?? ''))
  // DataDome has its header on real pages, too.
  if (byHeader !== undefined && (byHeader.name !== 'DataDome' || status === 403)) return byHeader.name
  const byPage = CHALLENGES.find(
    ({ titles, hasScript, words: names = [] }) =>
      titles?.test(page.title.trim()) === true ||
      (hasScript !== undefined && page.scripts.some(({ src }) => src !== null && hasScript(src))) ||
      names.some((name) => words.has(name)),
  )
  return byPage?.name ?? null
}

/** Why an answer is no page to look at. */
export interface Refusal {
  status: 'error' | 'critical'
  message: string
  details: { reason: string; status: number; by?: string }
}

/** The answers of those who let some visitors in and not others. */
const BLOCKED = [401, 403, 407, 429, 451]

/** @param words identifiers in the page's inline scripts */
export function refusalOf(
  status: number,
  headers: Readonly<Record<string, string>>,
  page: Page,
  words: ReadonlySet<string>,
): Refusal | null {
  const challenge = challengeOf(status, headers, page, words)
  if (challenge !== null) {
    const message = `The page is kept from the check by ${challenge}, which takes it for a robot: let it pass there, or set user_agent`
    return { status: 'error', message, details: { reason: 'challenge', by: challenge, status } }
  }
  if (BLOCKED.includes(status)) {
    const message = `The page is kept from the check: it answers ${status}`
    return { status: 'error', message, details: { reason: 'blocked', status } }
  }
  if (status >= 200 && status < 300) return null
  const message = `The page cannot be read: it answers ${status}`
  return { status: 'critical', message, details: { reason: 'bad_status', status } }
}
