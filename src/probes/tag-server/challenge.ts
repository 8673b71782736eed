const HEADERS: readonly { name: string; header: string; value: RegExp }[] = [
  { name: 'Cloudflare', header: 'cf-mitigated', value: /challenge/ },
  { name: 'AWS WAF', header: 'x-amzn-waf-action', value: /challenge|captcha/ },
  { name: 'DataDome', header: 'x-datadome', value: /protected/ },
]

/** Returns the part of an address after this text; empty when the address does not contain it. */
const after = (mark: string, address: string): string => {
  const at = address.indexOf(mark)
  return at === -1 ? '' : address.slice(at + mark.length)
}

/** A bot protection, and how to recognise the page with which it answers in place of the real one. */
interface Challenge {
  name: string
  titles?: RegExp
  /** Tests the addresses of scripts. */
  hasScript?: (address: string) => boolean
  /** Tests the addresses of frames. */
  hasFrame?: (address: string) => boolean
  /** Tests the address that the page sends visitors on to. */
  sendsTo?: (address: string) => boolean
  /** Identifiers in inline scripts. */
  words?: readonly string[]
  /** Matches the unparsed page besides `words`, where nothing but a challenge answers with a page at all. */
  text?: RegExp
}

const ofImperva = (address: string): string => after('/_Incapsula_Resource', address)

/** Pages that replace the real one until the visitor has proved to use a browser. */
export const CHALLENGES: readonly Challenge[] = [
  {
    name: 'Cloudflare',
    titles: /^(just a moment|attention required! \| cloudflare|please wait\.\.\. \| cloudflare)/i,
    // Real pages behind Cloudflare load other scripts from this path.
    hasScript: (address) => /chl_page|orchestrate/.test(after('/cdn-cgi/challenge-platform/', address)),
    words: ['_cf_chl_opt'],
    text: /<title>Just a moment/,
  },
  {
    name: 'Imperva',
    // The script in real pages also has a number of its network (`ns`).
    hasScript: (address) => /[?&]SWJIYLWA=/.test(ofImperva(address)) && !/[?&]ns=/.test(ofImperva(address)),
    hasFrame: (address) => ofImperva(address) !== '',
    text: /\/_Incapsula_Resource\?([CS]WUDNSAI=|SWJIYLWA=\w{1,100}["'])/,
  },
  {
    name: 'DataDome',
    hasScript: (address) => /^https?:\/\/(ct|geo)\.captcha-delivery\.com\//.test(address),
    text: /\b(ct|geo)\.captcha-delivery\.com\b/,
  },
  // `_pxAppId` also occurs in real pages.
  {
    name: 'HUMAN',
    titles: /^access to this page has been denied/i,
    words: ['_pxUuid', '_pxBlockedUrl'],
    text: /<title>Access to this page has been denied/i,
  },
  {
    name: 'AWS WAF',
    // Real pages load a script from `sdk.awswaf.com`.
    hasScript: (address) => `/${after('.token.awswaf.com/', address)}`.includes('/challenge.js'),
    words: ['gokuProps'],
    text: /\.token\.awswaf\.com\//,
  },
  {
    name: 'Akamai',
    // Real pages load a style and a script from this path, for challenges of later requests.
    hasFrame: (address) => after('/_sec/cp_challenge/', address) !== '',
    sendsTo: (address) => /[?&]bm-verify=/.test(address),
    text: /\/_sec\/cp_challenge\/[\w-]{1,50}\.htm|[?&]bm-verify=/,
  },
  {
    name: 'SiteGround',
    sendsTo: (address) => after('/.well-known/sgcaptcha/', address) !== '',
    text: /\/\.well-known\/sgcaptcha\//,
  },
  { name: 'Sucuri', words: ['sucuri_cloudproxy_js'] },
]

/** The words of all challenges. */
export const CHALLENGE_WORDS: readonly string[] = CHALLENGES.flatMap(({ words = [] }) => words)

/** Returns the vendor whose bot protection answered instead of the target; null when the headers name none. */
export function challengeInHeaders(status: number, headers: Readonly<Record<string, string>>): string | null {
  const found = HEADERS.find(({ header, value }) => value.test(headers[header] ?? ''))
  // DataDome also sends its header with what it lets through.
  return found === undefined || (found.name === 'DataDome' && status !== 403) ? null : found.name
}

/** Returns whether a body begins as a web page, without a byte order mark. */
export const startsPage = (body: string): boolean => /^\s*<(!doctype|html|head|body)\b/i.test(body.slice(0, 500))

/** The same for an answer that is no web page unless something else sent it, such as a tag server's or a script's. */
export function challengeIn(answer: {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}): string | null {
  const { status, headers, body } = answer
  const byHeader = challengeInHeaders(status, headers)
  if (byHeader !== null || !startsPage(body)) return byHeader
  const answered = CHALLENGES.find(
    ({ words = [], text }) => words.some((word) => body.includes(word)) || text?.test(body) === true,
  )
  return answered?.name ?? null
}

/** Says that a bot protection answered, which is about this check: visitors' browsers may come through. */
export const challengeMessage = (vendor: string, where: string, status: number): string =>
  `${vendor} blocks the check as a bot at ${where} (${status}): allow this address there for Tagwarden, or nothing is checked`
