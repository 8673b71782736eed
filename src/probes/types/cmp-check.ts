import { type Static, Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { SECOND } from '../../lib/index.ts'
import { isOurs, type OutboundBytes, type OutboundError } from '../../outbound/index.ts'
import { type ConsentMode, shownMode } from '../cmp-check/consent-mode.ts'
import { type FetchedScript, type FetchTools, fetchPage, fetchScript } from '../cmp-check/fetch.ts'
import { type FoundProvider, providerNamed, providersFound, together } from '../cmp-check/find-providers.ts'
import {
  type ConsentState,
  type Expected,
  judgeConsentMode,
  judgeOutdated,
  judgeProvider,
  judgeScripts,
} from '../cmp-check/judge.ts'
import { PROVIDERS } from '../cmp-check/providers.ts'
import type { ContainerReading, PageReading } from '../cmp-check/read.ts'
import { defineProbeType, isNetworkFailure, type ProbeContext, type ProbeOutcome } from '../probe-type.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { badFindings, judged, sinceInMemory, sinceText, statusSince } from '../tag-server/judge.ts'
import { bodyOf } from './fetched-body.ts'
import { PageReadError } from './pages.ts'

const CmpSettings = Type.Object(
  {
    own_address: Type.Optional(
      Type.String({
        minLength: 4,
        maxLength: 200,
        description:
          "Part of the address of the consent platform's script, e.g. consent.example.com/cmp.js, for a platform that is proxied or unknown to Tagwarden",
      }),
    ),
    check_script: Type.Boolean({
      default: true,
      description: "Whether the provider's script must answer",
    }),
    check_consent_mode: Type.Boolean({
      default: true,
      description: "Whether Google's consent defaults must be set completely before measurement begins",
    }),
    user_agent: Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: '^[\\x20-\\x7e]+$',
      [EXPECTS]: 'text of ASCII characters',
      default: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
      description: 'User agent that the check sends to the site',
    }),
  },
  { additionalProperties: false },
)

type CmpSettings = Static<typeof CmpSettings>

type Context = ProbeContext<CmpSettings>

/** Shares of a run's time. Scripts are fetched after the page, and a page that hangs must leave time to report it. */
const PAGE_SHARE = 0.6
const SCRIPT_SHARE = 0.35
const SCRIPTS_ASKED = 2
const FOUND_SHOWN = 8
const METHOD =
  'Reads the page and its web container as they are delivered; what scripts add later is not seen, and no consent is given'

export const cmpCheck = defineProbeType({
  name: 'cmp_check',
  title: 'Consent platform',
  description:
    "Whether the page has its consent platform, the platform's script answers, and Google's consent defaults are set in time.",
  kind: 'wire',
  siteFields: ['url', 'cmp_provider', 'tag_manager_web_container_id'],
  needs: [],
  autoNeeds: [['cmp_provider']],
  config: CmpSettings,
  defaultIntervalSeconds: 3_600,
  minIntervalSeconds: 300,
  async run(context: Context) {
    const outcome = await check(context)
    const since = statusSince(context.memory, outcome.status, context.now)
    return {
      ...outcome,
      details: { url: shownAddress(context.site.url), since: sinceText(since), ...outcome.details, method: METHOD },
      memory: { standing: sinceInMemory(since) },
    }
  },
})

async function check(context: Context): Promise<ProbeOutcome> {
  const { site, config } = context
  const expected = expectedOf(site.cmp_provider, config.own_address)
  if (typeof expected === 'string') {
    return { status: 'error', message: expected, details: { reason: 'unknown_provider' } }
  }
  const ofSite = site.tag_manager_web_container_id
  const [fetched, container] = await Promise.all([
    fetchPage(fetchTools(context, PAGE_SHARE), site.url),
    ofSite === null ? null : readContainer(context, ofSite, PAGE_SHARE),
  ])
  if (fetched.kind === 'failed') return unreachable(fetched.why, fetched.thrown, context.timeoutMs)
  const responseTimeMs = fetched.tookMs
  if (fetched.kind === 'elsewhere') {
    const message = `The page redirects to another site, ${fetched.to}, which is not checked: set the site's address to the one that visitors see`
    return { status: 'error', message, details: { reason: 'redirected', to: fetched.to }, responseTimeMs }
  }
  try {
    return { ...(await checkPage(context, expected, fetched.answer, container)), responseTimeMs }
  } catch (thrown) {
    if (!(thrown instanceof PageReadError)) throw thrown
    const message = `The page cannot be checked: ${thrown.message}`
    return { status: 'error', message, details: { reason: 'unreadable' }, responseTimeMs }
  }
}

function unreachable(why: string, thrown: OutboundError, timeoutMs: number): ProbeOutcome {
  const share = thrown.kind === 'timeout' ? ` (${100 * PAGE_SHARE} % of the probe's ${timeoutMs / SECOND} s)` : ''
  return {
    status: isOurs(thrown) ? 'error' : 'critical',
    message: `The page cannot be read: ${why}${share}`,
    details: { reason: 'unreachable', failure: thrown.kind },
    isNetworkFailure: isNetworkFailure(thrown),
  }
}

async function checkPage(
  context: Context,
  expected: Omit<Expected, 'hasOwnSign'>,
  answer: OutboundBytes,
  containerOfSite: ReadContainer | null,
): Promise<ProbeOutcome> {
  const { config, pages, signal } = context
  const { url, status, headers, isTruncated } = answer
  const question = { url, status, headers, ownAddress: config.own_address ?? null }
  const page = await pages.read('consentPage', { body: bodyOf(answer), question }, signal)
  if (page.refusal !== null) return page.refusal

  const ofSite = containerOfSite?.id ?? null
  const ids = loadedContainers(ofSite, page)
  const containers = await Promise.all(
    ids.map((id) => (id === containerOfSite?.id ? containerOfSite : readContainer(context, id, SCRIPT_SHARE))),
  )
  const whyUnread = containers.find(({ facts }) => facts === null)?.script.why ?? null
  const isCut = isTruncated || page.isCut
  const runsNothing = page.runsNothing && !isCut
  // A page that only sends visitors on does not load the site's container either, unless it contains its snippet.
  const isStep = page.forward !== null && page.containerId === null
  const loaded = runsNothing || isStep ? [] : containers.flatMap(({ facts }) => facts ?? [])
  const { signs, hasIabStub, outdated } = loaded.reduce((all, { found }) => together(all, found), page.found)
  const { title, forward } = page
  const providers = providersFound({ signs })
  const isExpected = ({ provider }: FoundProvider) => expected.name === null || provider === expected.provider
  const factsOfSite = containerOfSite?.facts ?? null
  const isInOfSite =
    factsOfSite !== null && (factsOfSite.hasOwnAddress || providersFound(factsOfSite.found).some(isExpected))
  const instead = ofSite === null || ids.includes(ofSite) ? null : { ids: ids.join(', '), ofSite, isInOfSite }
  const found = { providers, hasIabStub, runsNothing, isCut, title, forward, whyUnread, instead }
  const hasOwnSign = page.hasOwnAddress || loaded.some(({ hasOwnAddress }) => hasOwnAddress)
  const mine = found.providers.find(isExpected)
  const scripts = [...new Set([...page.ownScripts, ...(mine?.scripts ?? [])])]
  const answered = config.check_script ? await askScripts(context, scripts, url) : []
  const { mode } = page
  const ownSetter =
    hasOwnSign && (expected.provider === null || expected.provider.setsConsentMode) ? expected.name : null
  const elsewhere = elsewhereOf(found.providers, containers, mode) ?? ownSetter
  const consent = config.check_consent_mode ? judgeConsentMode(mode, elsewhere) : NOT_CHECKED
  const provider = judgeProvider({ ...expected, hasOwnSign }, found)
  const findings = [
    ...provider,
    ...judgeScripts(expected.name ?? mine?.provider.name ?? 'the consent platform', answered),
    ...judgeOutdated(outdated),
    ...consent.findings,
  ]
  return {
    ...judged(findings, `${provider[0]?.message}; ${CONSENT_WORDS[consent.state]}`),
    details: {
      findings: badFindings(findings),
      expected: expected.name,
      found: found.providers
        .slice(0, FOUND_SHOWN)
        .map(({ provider: { id, name }, evidence }) => ({ id, name, evidence })),
      iab_stub: found.hasIabStub,
      scripts: answered.map((script) => ({ url: shownAddress(script.url), status: script.status, why: script.why })),
      consent_mode: { state: consent.state, set_elsewhere_by: elsewhere, ...shownMode(mode) },
      containers: containers.map(({ id, script: { status, why } }) => ({ id, status, why })),
      page: { address: shownAddress(url), title, status, characters: page.characters, is_cut_off: isCut },
    },
  }
}

const NOT_CHECKED = { state: 'not_checked', findings: [] } as const

/** Words for a page without findings; the empty ones belong to states with a finding. */
const CONSENT_WORDS: Readonly<Record<ConsentState | 'not_checked', string>> = {
  set: 'the consent defaults are set before measurement begins',
  set_elsewhere: 'the consent defaults are not in the page, but may be set by what it loads',
  no_measurement: 'no measurement of Google begins in the page itself',
  not_checked: 'the consent defaults were not checked',
  late: '',
  incomplete: '',
  missing: '',
}

const fetchTools = ({ outbound, config, signal, timeoutMs }: Context, share: number): FetchTools => ({
  outbound,
  userAgent: config.user_agent,
  signal,
  timeoutMs: Math.floor(timeoutMs * share),
})

interface ReadContainer {
  id: string
  script: FetchedScript
  /** Null when the container could not be read. */
  facts: ContainerReading | null
}

async function readContainer(context: Context, id: string, share: number): Promise<ReadContainer> {
  const url = `${context.settings.tagManagerBaseUrl}/gtm.js?id=${encodeURIComponent(id)}`
  const script = await fetchScript(fetchTools(context, share), url, null, true)
  if (script.body === null) return { id, script, facts: null }
  const { pages, config, signal } = context
  const question = { body: script.body, ownAddress: config.own_address ?? null }
  try {
    return { id, script, facts: await pages.read('container', question, signal) }
  } catch (thrown) {
    if (!(thrown instanceof PageReadError)) throw thrown
    return { id, script: { ...script, why: thrown.message }, facts: null }
  }
}

/** Most containers that are read: each has up to 2 MB. */
const CONTAINERS_READ = 3

/** Those that the page itself starts, the site's first; where it starts none that can be seen, the site's or the one that it names. */
function loadedContainers(ofSite: string | null, { startedIds, containerId }: PageReading): string[] {
  const first = ofSite ?? containerId
  const isSeen = startedIds.length > 0 && first !== null && !startedIds.includes(first)
  return [...new Set(first === null || isSeen ? startedIds : [first, ...startedIds])].slice(0, CONTAINERS_READ)
}

const askScripts = (context: Context, urls: readonly string[], page: string): Promise<FetchedScript[]> =>
  Promise.all(
    urls.slice(0, SCRIPTS_ASKED).map((url) => fetchScript(fetchTools(context, SCRIPT_SHARE), url, page, false)),
  )

/** Returns a sentence instead when the check cannot know what to look for. */
function expectedOf(name: string | null, ownAddress: string | undefined): Omit<Expected, 'hasOwnSign'> | string {
  const provider = name === null ? null : providerNamed(name)
  if (name !== null && provider === null && ownAddress === undefined) {
    const known = PROVIDERS.map(({ id }) => id).join(', ')
    return `No consent platform is known as “${name}”: use one of ${known}, or set own_address to a part of its script's address`
  }
  return { provider, name: provider?.name ?? name ?? (ownAddress === undefined ? null : `“${ownAddress}”`) }
}

/** Returns what may set the defaults that the page itself does not set; null when nothing known does. */
function elsewhereOf(
  providers: readonly FoundProvider[],
  containers: readonly ReadContainer[],
  { mentionsDefault }: ConsentMode,
): string | null {
  if (containers.some(({ facts }) => facts?.setsDefaults)) return 'a tag of the web container'
  const setter = providers.find(({ provider }) => provider.setsConsentMode)
  if (setter !== undefined) return setter.provider.name
  if (containers.some(({ facts }) => facts === null)) return 'the web container, which could not be read'
  return mentionsDefault ? 'code in a text of the page' : null
}
