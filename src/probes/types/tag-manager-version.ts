import { type Static, Type } from 'typebox'
import { DAY, duration, fieldsOf, HOUR, isoTime, withoutEnd } from '../../lib/index.ts'
import { GoogleFailure } from '../google/failure.ts'
import { serviceAccountOf } from '../google/service-account.ts'
import { type LiveVersion, liveVersion } from '../google/tag-manager.ts'
import {
  type DeployMarker,
  defineProbeType,
  isNetworkFailure,
  type JsonObject,
  type ProbeContext,
  type ProbeOutcome,
  RESULT_STATUSES,
} from '../probe-type.ts'
import {
  isRollback,
  judgeCopy,
  judgeVersion,
  type Part,
  readHistory,
  type VersionHistory,
  type VersionRules,
  withVersion,
} from '../tag-manager-version/judge.ts'
import { checkPage, readScript } from '../tag-manager-version/page.ts'

const Version = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

const Config = Type.Object(
  {
    expected_version: Version(
      'The only version that is accepted: of the web container, or of the server container if the site has no web container',
    ),
    expected_server_version: Version('The only version of the server container that is accepted'),
    change_ttl_hours: Type.Number({
      minimum: 0,
      maximum: 720,
      default: 24,
      description:
        'How long a new version is a warning (critical if it is lower than before); after that it counts as the usual one',
    }),
    copy_lag_minutes: Type.Integer({
      minimum: 5,
      maximum: 10_080,
      default: 60,
      description: "How long the tag server's own copy of gtm.js may differ from the published version",
    }),
    check_page: Type.Boolean({
      default: true,
      description: 'Whether to check if the page loads a preview or an environment instead of the published version',
    }),
  },
  { additionalProperties: false },
)

type Settings = Static<typeof Config>
type Context = ProbeContext<Settings>

/** A part of the check, and what it leaves for the next run. */
interface Checked extends Part {
  history?: VersionHistory
  /** Null when the last one no longer holds. */
  reading?: Reading | null
  marker?: DeployMarker
  responseTimeMs?: number
  mayRetry?: boolean
}

/** What the API said of a server container when it was asked last, apart from the version. */
interface Reading {
  /** Epoch ms. */
  at: number
  facts: JsonObject
}

export const tagManagerVersion = defineProbeType({
  name: 'tag_manager_version',
  title: 'Tag Manager version',
  description:
    'Which version of the containers is published. Reports new versions, rollbacks, stale copies and previews left on the page.',
  kind: 'wire',
  siteFields: ['url', 'tag_server_url', 'tag_manager_web_container_id', 'tag_manager_server_container_id'],
  needs: [['tag_manager_web_container_id'], ['tag_manager_server_container_id']],
  config: Config,
  // Google caches gtm.js for about 15 minutes, and at this interval the API's quota lets each of about 90 containers be read in each run.
  defaultIntervalSeconds: 900,
  async run(context: Context) {
    const { site, config, memory, signal, timeoutMs } = context
    const web = site.tag_manager_web_container_id
    const server = site.tag_manager_server_container_id
    const webAndCopy = async (containerId: string) => {
      const part = await checkWeb(context, containerId)
      return { part, copy: await checkCopy(context, containerId, part.history) }
    }
    const [found, serverPart, pagePart] = await Promise.all([
      web === null ? null : webAndCopy(web),
      server === null ? null : checkServer(context, server),
      // Half of the time, so that a slow page does not delay the other parts.
      web === null || !config.check_page ? null : checkPage(context, site.url, signal, timeoutMs / 2),
    ])
    const webPart = found?.part ?? null
    const copy = found?.copy
    const parts = { web: webPart, server: serverPart, copy: copy?.part ?? null, page: pagePart }
    const left = { web: webPart?.history, server: serverPart?.history, copy_differs_since: copy?.since }
    const kept = Object.entries({ ...left, server_reading: serverPart?.reading }).filter(
      ([, value]) => value !== undefined,
    )
    return { ...outcomeOf(parts), memory: { ...memory, ...Object.fromEntries(kept) } as JsonObject }
  },
})

async function checkWeb(context: Context, containerId: string): Promise<Checked> {
  const { settings, memory, config, now } = context
  const what = `Web container ${containerId}`
  const read = () => readScript(context, settings.tagManagerBaseUrl, containerId)
  const before = readHistory(memory.web)
  let script = await read()
  // One of Google's many servers may not know a container for a moment: only a second 404 says that it is missing.
  if (script.kind === 'missing') script = await read()
  if (script.kind === 'version' && isLower(before, containerId, script.version)) {
    // After a release, Google's caches serve the old and the new version in turns: a rollback counts only if it is seen twice.
    const again = await read()
    if (again.kind === 'version' && !isLower(before, containerId, again.version)) script = again
  }
  const took = script.tookMs === null ? {} : { responseTimeMs: script.tookMs }
  if (script.kind === 'missing') {
    const message = `${what} does not exist, or was never published: Google answers 404`
    return { status: 'critical', message, details: { container_id: containerId, reason: 'missing' }, ...took }
  }
  if (script.kind === 'unreadable') {
    // All sites use the same Google host, so its failure says nothing about this one.
    return {
      status: 'error',
      message: `${what} could not be read from Google: ${script.why}`,
      details: { container_id: containerId, reason: 'unreadable', why: script.why },
      mayRetry: isNetworkFailure(script.thrown),
      ...took,
    }
  }
  const history = withVersion(before, containerId, script.version, now)
  const rules = await rulesOf(context, config.expected_version, history)
  return { ...judgeVersion(what, history, rules, now), history, ...markerOf('web container', history, now), ...took }
}

async function checkServer(context: Context, containerId: string): Promise<Checked> {
  const { settings, site, memory, now } = context
  const what = `Server container ${containerId}`
  const last = lastReading(context, containerId)
  try {
    const account = serviceAccountOf(settings)
    const { sharers, everyMs } = account.tagManagerShares.need(containerId, now)
    if (last !== null && now - last.reading.at < everyMs) {
      const why = sharers === 1 ? '' : `${sharers} containers share the quota of the Tag Manager API`
      return await judgeServer(context, what, last, why)
    }
    const live = await liveVersion(account, settings.tagManagerApiUrl, containerId, context)
    if (live === null) {
      const message = `${what} has no published version`
      return { status: 'critical', message, details: { container_id: containerId, reason: 'missing' }, reading: null }
    }
    const history = withVersion(readHistory(memory.server), containerId, live.version, now)
    const part = await judgeServer(context, what, { history, reading: { at: now, facts: detailsOf(live) } }, '')
    // The tags only once for each version: thousands of results would repeat them.
    const details = { ...part.details, ...(history.since === now ? tagsOf(live) : {}) }
    return { ...part, details, ...markerOf('server container', history, now) }
  } catch (thrown) {
    if (!(thrown instanceof GoogleFailure)) throw thrown
    const { reason, facts, message } = thrown
    if (reason === 'quota' && last !== null) {
      return judgeServer(context, what, last, 'the quota of the Tag Manager API is used up')
    }
    // A web container is watched without an account, so on such a site a missing account is not a failure.
    const isOptional = reason === 'no_credentials' && site.tag_manager_web_container_id !== null
    return {
      status: isOptional ? 'ok' : 'error',
      message: `${what} was not checked: ${message}`,
      details: { container_id: containerId, reason, status: facts.status ?? null, said: facts.said ?? null },
      // Otherwise a container that was deleted would seem fine again once the quota is used up.
      reading: null,
      mayRetry: facts.isNetworkFailure === true,
    }
  }
}

interface KnownServer {
  history: VersionHistory
  reading: Reading
}

/** Without a newer reading, one of a day ago says too little. */
const READING_MS = DAY

function lastReading({ memory, now }: Context, containerId: string): KnownServer | null {
  const history = readHistory(memory.server)
  const { at, facts } = fieldsOf(memory.server_reading)
  if (history?.containerId !== containerId || typeof at !== 'number' || at > now || now - at >= READING_MS) return null
  return { history, reading: { at, facts: fieldsOf(facts) as JsonObject } }
}

/** @param why the API was not asked now; empty when it was */
async function judgeServer(
  context: Context,
  what: string,
  { history, reading }: KnownServer,
  why: string,
): Promise<Checked> {
  const { site, config, now } = context
  const only = site.tag_manager_web_container_id === null ? config.expected_version : undefined
  const rules = await rulesOf(context, config.expected_server_version ?? only, history)
  const part = judgeVersion(what, history, rules, now)
  const age = why === '' ? '' : `; read ${duration(now - reading.at)} ago, as ${why}`
  const details = { ...part.details, ...reading.facts, read_at: isoTime(reading.at) }
  return { ...part, message: `${part.message}${age}`, details, history, reading }
}

/** Checks the copy that the site's own server serves; null when it serves none, as with most sites. */
async function checkCopy(
  context: Context,
  containerId: string,
  original: VersionHistory | undefined,
): Promise<{ part: Part; since: number | null } | null> {
  const { site, signal, memory, config, now } = context
  if (site.tag_server_url === null || original === undefined || signal.aborted) return null
  const script = await readScript(context, withoutEnd(site.tag_server_url, '/'), containerId)
  if (script.kind !== 'version') return null
  const before = memory.copy_differs_since
  // A copy may follow release after release without ever being equal at a run, and an earlier time is of another container.
  const { changes } = original
  const replaced = changes.findLast(({ from }) => from === script.version) ?? changes[0]
  const replacedAt = replaced?.at ?? original.since
  const since =
    script.version === original.version ? null : Math.max(typeof before === 'number' ? before : now, replacedAt)
  const facts = { copy: script.version, original: original.version, since, lagMinutes: config.copy_lag_minutes }
  return { part: judgeCopy(facts, now), since }
}

const isLower = (before: VersionHistory | null, containerId: string, version: string): boolean =>
  before !== null && before.containerId === containerId && isRollback({ from: before.version, to: version })

async function rulesOf(
  { config, lastReview, now }: Context,
  expected: number | undefined,
  { changes }: VersionHistory,
): Promise<VersionRules> {
  const changeTtlHours = config.change_ttl_hours
  const changedAt = changes.at(-1)?.at
  // Almost always nothing has changed and the look-up can be skipped.
  const isNews = changedAt !== undefined && now - changedAt < changeTtlHours * HOUR
  return { expected: expected ?? null, changeTtlHours, reviewedAt: isNews ? await lastReview() : null }
}

/** A deploy marker if this run was the first to see the change. */
function markerOf(source: string, { containerId, changes }: VersionHistory, now: number): { marker?: DeployMarker } {
  const change = changes.at(-1)
  if (change?.at !== now) return {}
  const { from, to } = change
  const details = { container_id: containerId, is_rollback: isRollback(change), seen_at: isoTime(now) }
  return { marker: { source, fromVersion: from, toVersion: to, details } }
}

/** As many tags as fit into `details`. */
const TAGS_SHOWN = 100

const detailsOf = ({ name, fingerprint, tags }: LiveVersion) => ({ name, fingerprint, tags_total: tags.length })

const tagsOf = ({ tags }: LiveVersion) => ({
  tags: tags
    .slice(0, TAGS_SHOWN)
    .map((tag) => ({ id: tag.id, name: tag.name.slice(0, 80), ...(tag.isPaused ? { is_paused: true } : {}) })),
})

/** The worst part determines the status and comes first; other bad parts follow. */
function outcomeOf(parts: Readonly<Record<string, Checked | null>>): ProbeOutcome {
  const all = Object.values(parts).filter((part) => part !== null)
  const sorted = all.toSorted((a, b) => RESULT_STATUSES.indexOf(a.status) - RESULT_STATUSES.indexOf(b.status))
  const status = sorted[0]?.status ?? 'ok'
  const named = sorted.filter((part) => part.message !== '' && (status === 'ok' || part.status !== 'ok'))
  const [took] = all.flatMap(({ responseTimeMs }) => (responseTimeMs === undefined ? [] : [responseTimeMs]))
  return {
    status,
    message: named.map(({ message }) => message).join('; '),
    details: Object.fromEntries(
      Object.entries(parts).map(([name, part]) => [name, part && { status: part.status, ...part.details }]),
    ),
    ...(took === undefined ? {} : { responseTimeMs: took }),
    deployMarkers: all.flatMap(({ marker }) => (marker === undefined ? [] : [marker])),
    isNetworkFailure: status === 'error' && all.some(({ mayRetry }) => mayRetry === true),
  }
}
