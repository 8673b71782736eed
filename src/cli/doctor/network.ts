import { SECOND } from '../../lib/index.ts'
import { whyUnreachable } from '../unreachable.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** A host outside, and what does not work without it. */
export interface OutboundTarget {
  url: string
  needs: string
}

export const OUTBOUND: readonly OutboundTarget[] = [
  { url: 'https://www.googletagmanager.com', needs: 'tag_manager_version probes of web containers' },
  { url: 'https://tagmanager.googleapis.com', needs: 'tag_manager_version probes of server containers' },
  { url: 'https://bigquery.googleapis.com', needs: 'warehouse_events probes' },
  { url: 'https://api.app.stape.io', needs: 'tag_server_infra probes with hosting provider A' },
]

const TIMEOUT_MS = 4 * SECOND
/** The Date header counts whole seconds, and a slow answer is some more behind. */
const MAX_SKEW_MS = 5 * SECOND

/** Whether a host answered, and how far our clock is ahead of its, ms; null when it did not say. */
export interface OutboundAnswer {
  target: OutboundTarget
  failure: string | null
  skewMs: number | null
}

export async function askOutside(target: OutboundTarget): Promise<OutboundAnswer> {
  try {
    const began = Date.now()
    const response = await fetch(target.url, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { target, failure: null, skewMs: skewOf(response.headers.get('date'), began, Date.now()) }
  } catch (thrown) {
    return { target, failure: whyUnreachable(thrown), skewMs: null }
  }
}

/**
 * How far a clock that showed `began` and `ended` around a request is ahead of the one that wrote the Date header, ms.
 * The header is cut to whole seconds: half of one is the best guess of what is missing.
 */
export function skewOf(date: string | null, began: number, ended: number): number | null {
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? null : (began + ended) / 2 - (theirs + SECOND / 2)
}

export function outboundFinding({ target, failure }: OutboundAnswer): DoctorFinding {
  const check = 'outbound'
  if (failure === null) return { check, level: 'ok', text: `${target.url} answers` }
  const text = `${target.url}: ${failure}; without it these will not work: ${target.needs}`
  return { check, level: 'warning', text }
}

/** @param answers of several hosts: one of them may be wrong, so the middle one counts */
export function clockFinding(answers: readonly OutboundAnswer[]): DoctorFinding {
  const check = 'clock'
  const skews = answers.flatMap(({ skewMs }) => skewMs ?? []).sort((a, b) => a - b)
  const skew = skews[Math.floor(skews.length / 2)]
  if (skew === undefined) {
    return { check, level: 'warning', text: 'not compared, as no host outside sent its time: check that NTP runs' }
  }
  const seconds = Math.round(Math.abs(skew) / SECOND)
  if (Math.abs(skew) <= MAX_SKEW_MS)
    return { check, level: 'ok', text: `within ${Math.max(1, seconds)} s of the others'` }
  const direction = skew > 0 ? 'ahead' : 'behind'
  return { check, level: 'warning', text: `${seconds} s ${direction}: switch on NTP, or events get wrong times` }
}
