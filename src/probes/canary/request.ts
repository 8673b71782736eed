import { randomInt } from 'node:crypto'
import { SECOND, withoutEnd } from '../../lib/index.ts'
import type { OutboundRequest } from '../../outbound/index.ts'
import { urlAt } from '../tag-server/addresses.ts'

/** Placeholder for the canary's name in the user's own path and body. */
export const EVENT_MARK = '{event}'

export interface CanaryWay {
  measurement_id?: string
  path?: string
  body?: string
  content_type: string
}

interface CanaryTarget {
  url: string
  tagServerUrl: string
}

/** Builds the request that a visitor's browser would send for an event, or the one that the user described for their own client. */
export function canaryRequest(
  { url, tagServerUrl }: CanaryTarget,
  way: CanaryWay,
  eventName: string,
  now: number,
): { url: string; request: OutboundRequest } {
  if (way.path === undefined) {
    const { pathname } = new URL(tagServerUrl)
    const query = collectQuery(way.measurement_id ?? '', url, eventName, now)
    return { url: urlAt(tagServerUrl, `${withoutEnd(pathname, '/')}/g/collect?${query}`), request: {} }
  }
  const named = (text: string) => text.replaceAll(EVENT_MARK, eventName)
  const address = urlAt(tagServerUrl, named(way.path))
  if (way.body === undefined) return { url: address, request: {} }
  const headers = { 'content-type': way.content_type }
  return { url: address, request: { method: 'POST', headers, body: named(way.body) } }
}

/** A new visitor who has refused everything, so that tags that check consent do not run. */
function collectQuery(measurementId: string, pageUrl: string, eventName: string, now: number): URLSearchParams {
  const seconds = Math.floor(now / SECOND)
  return new URLSearchParams({
    v: '2',
    tid: measurementId,
    gcs: 'G100',
    npa: '1',
    _p: String(now),
    cid: `${randomInt(1_000_000_000, 2_000_000_000)}.${seconds}`,
    ul: 'en',
    sr: '1280x720',
    _s: '1',
    sid: String(seconds),
    sct: '1',
    seg: '0',
    dl: pageUrl,
    en: eventName,
  })
}
