import type { Page } from './page.ts'

/** Pages that stand in for the real one until a browser has proved to be one. */
const CHALLENGES: readonly { name: string; titles?: RegExp; scripts?: RegExp; words?: readonly string[] }[] = [
  {
    name: 'Cloudflare',
    titles: /^(just a moment|attention required! \| cloudflare|please wait\.\.\. \| cloudflare)/i,
    // Real pages behind Cloudflare have other scripts of this path.
    scripts: /\/cdn-cgi\/challenge-platform\/.*(chl_page|orchestrate)/,
    words: ['_cf_chl_opt'],
  },
  { name: 'Imperva', scripts: /\/_Incapsula_Resource/ },
  { name: 'DataDome', scripts: /^https?:\/\/(ct|geo)\.captcha-delivery\.com\// },
  { name: 'HUMAN', titles: /^access to this page has been denied/i, words: ['_pxAppId', '_pxBlockedUrl'] },
  { name: 'AWS WAF', scripts: /\.awswaf\.com\/.*\/challenge\.js/, words: ['gokuProps'] },
]

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
    ({ titles, scripts, words: names = [] }) =>
      titles?.test(page.title.trim()) === true ||
      (scripts !== undefined && page.scripts.some(({ src }) => src !== null && scripts.test(src))) ||
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
