import { Type } from 'typebox'
import { isLongOutage, LISTENING_INTERVAL_MS, lastListenedAt, readOutages } from '../../cluster/index.ts'
import { EXPECTS } from '../../http/index.ts'
import { type ErrorDetail, isoTimeOrNull, SECOND } from '../../lib/index.ts'
import { newCanaryName } from '../../management/index.ts'
import type { OutboundAnswer } from '../../outbound/index.ts'
import { waitForArrival, whyMissing } from '../canary/arrivals.ts'
import { judgeArrivals, judgeDelivery } from '../canary/judge.ts'
import {
  type CanaryMemory,
  inMemory,
  memoryOf,
  overdue,
  withArrivals,
  withoutRefused,
  withSent,
} from '../canary/memory.ts'
import { type CanaryWay, canaryRequest, EVENT_MARK } from '../canary/request.ts'
import { notListening } from '../counts/judge-counts.ts'
import { defineProbeType, isNetworkFailure, type ProbeOutcome } from '../probe-type.ts'
import { shownAddress } from '../tag-server/addresses.ts'
import { failureDetails, targetFailure } from '../tag-server/ask.ts'
import type { CheckFinding } from '../tag-server/judge.ts'

const BODY_BYTES = 16 * 1_024
/** Part of a run's time that is kept for the work after the last look at ingest. */
const REST_MS = 500
/** Within this time, a service that accepts events says so again: then what is overdue is missing. */
const BEAT_MS = LISTENING_INTERVAL_MS + SECOND

export const canary = defineProbeType({
  name: 'canary',
  title: 'Canary',
  description:
    'Sends a marked event through the tag server and waits for it at ingest: DNS name, certificate, CDN, client, container and tag in one check. It is never counted.',
  kind: 'wire',
  siteFields: ['url', 'tag_server_url'],
  needs: [['tag_server_url']],
  // Someone must first exclude canaries from the other tags.
  autoNeeds: null,
  config: Type.Object(
    {
      measurement_id: Type.Optional(
        Type.String({
          pattern: '^G-[A-Z0-9]{4,20}$',
          [EXPECTS]: 'a measurement ID like G-AB12CD34EF',
          description: 'GA4 measurement ID whose events the container accepts; sent to /g/collect',
        }),
      ),
      path: Type.Optional(
        Type.String({
          pattern: '^/',
          [EXPECTS]: 'a path that begins with /',
          maxLength: 1_024,
          description: `Path and query of another client, from the root of the host, instead of /g/collect; ${EVENT_MARK} stands for the name of the event`,
        }),
      ),
      body: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 4_096,
          description: `Body to send to the path with POST; without it, the path is requested with GET. ${EVENT_MARK} stands for the name of the event`,
        }),
      ),
      content_type: Type.String({
        pattern: '^[\\x21-\\x7e][\\x20-\\x7e]*$',
        [EXPECTS]: 'a content type like application/json',
        maxLength: 100,
        default: 'application/json',
        description: 'Content type of the body',
      }),
      limit_seconds: Type.Integer({
        minimum: 5,
        maximum: 21_600,
        default: 60,
        description:
          'How long a canary may take to arrive; with a tag of version 1 in batched mode, more than the maximum age of a batch',
      }),
    },
    { additionalProperties: false },
  ),
  checkConfig: wayFaults,
  defaultIntervalSeconds: 300,
  minIntervalSeconds: 60,
  async run({ site, probe, config, memory, now, timeoutMs, signal, outbound, store }) {
    const { tag_server_url: tagServerUrl } = site
    if (tagServerUrl === null) throw new Error('the site has no tag_server_url')
    const began = performance.now()
    const kept = memoryOf(memory)
    // What was under way when a pause began may have been refused, or have arrived so long ago that this is forgotten.
    const known = probe.recent_statuses === '' ? { ...kept, waiting: [] } : kept
    const name = newCanaryName(site.ingest_key)
    const { url, request } = canaryRequest({ url: site.url, tagServerUrl }, config, name, now)
    const limits = { totalMs: timeoutMs, bodyBytes: BODY_BYTES }
    let answer: OutboundAnswer
    try {
      answer = await outbound.request(url, { ...request, limits, signal })
    } catch (thrown) {
      const { status, message } = targetFailure('delivery', url, thrown, timeoutMs)
      const failure = failureDetails(thrown)
      const details = { ...detailsOf(url, known), failed_at: failure.kind, failure }
      return { status, message, details, isNetworkFailure: isNetworkFailure(thrown), memory: inMemory(known) }
    }
    const asked = { status: answer.status, ...detailsOf(url, known) }
    const responseTimeMs = answer.timings.total
    const delivery = judgeDelivery(answer)
    if (delivery.status !== 'ok') {
      const details = { ...asked, failed_at: 'answer' }
      return { ...undelivered(delivery, known), details, responseTimeMs, memory: inMemory(known) }
    }
    const limitMs = config.limit_seconds * SECOND
    const sent = withSent(known, { name, at: now })
    const until = began + Math.min(timeoutMs - REST_MS, limitMs + BEAT_MS)
    const arrivals = await waitForArrival(store, site.site_no, sent.waiting, until, signal)
    const endedAt = now + Math.ceil(performance.now() - began)
    const arrived = withArrivals(sent, arrivals.at)
    const { last } = arrived
    const isNew = last !== known.last
    const from = Math.min(arrived.waiting[0]?.at ?? now, isNew ? (last?.sentAt ?? now) : now)
    const outages = await readOutages(store.read, from, endedAt)
    const wasDelayed = outages.some(
      (outage) => last !== null && outage.from < last.arrivedAt && outage.to > last.sentAt,
    )
    const after = withoutRefused(arrived, limitMs, outages)
    const why = () => whyMissing(store, site, after.waiting[0]?.at ?? now, endedAt)
    const listened = overdue(after, limitMs, endedAt).length === 0 ? null : await lastListenedAt(store.read)
    const isDown = listened !== null && isLongOutage({ from: listened, to: endedAt })
    const verdict = isDown
      ? notListening(endedAt, listened)
      : await judgeArrivals({
          ...{ memory: after, limitMs, now: endedAt, listened, tags: arrivals.tags, why },
          isTelling: isNew && !wasDelayed,
        })
    return {
      ...verdict,
      details: {
        ...asked,
        ...detailsOf(url, after),
        failed_at: verdict.status === 'ok' || isDown ? null : 'arrival',
        answer: delivery.message,
        event_name: name,
        tags_that_ran: arrivals.tags,
      },
      responseTimeMs,
      memory: inMemory(after),
    }
  },
})

const detailsOf = (url: string, { waiting, last }: CanaryMemory) => ({
  url: shownAddress(url),
  last_sent_that_arrived: isoTimeOrNull(last?.sentAt ?? null),
  last_arrival: isoTimeOrNull(last?.arrivedAt ?? null),
  not_arrived: waiting.length,
  not_arrived_since: isoTimeOrNull(waiting[0]?.at ?? null),
})

/** Until a canary has arrived, a bad answer may be due to wrong settings as well as to the tag server. */
function undelivered(
  { status, message }: CheckFinding,
  { last }: CanaryMemory,
): Pick<ProbeOutcome, 'status' | 'message'> {
  if (last !== null) return { status, message }
  return { status: 'error', message: `${message}. No canary has ever arrived: check measurement_id, or path and body` }
}

function wayFaults({ measurement_id: measurementId, path, body }: CanaryWay): readonly ErrorDetail[] {
  if (path === undefined) {
    if (body !== undefined) return [{ path: '/body', message: 'needs a path' }]
    return measurementId === undefined
      ? [{ path: '/measurement_id', message: 'is required, unless there is a path' }]
      : []
  }
  const isNamed = [path, body].some((text) => text?.includes(EVENT_MARK))
  return isNamed ? [] : [{ path: '/path', message: `or the body must hold ${EVENT_MARK}` }]
}
