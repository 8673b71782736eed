import { once } from 'node:events'
import { createServer } from 'node:net'
import { createTransport } from 'nodemailer'
import type { Config } from '../../config.ts'
import { asError, SECOND, systemClock } from '../../lib/index.ts'
import { outcomeOfFailure, smtpServer } from '../../notifications/index.ts'
import { createOutbound, type Outbound } from '../../outbound/index.ts'
import { VERSION } from '../../version.ts'
import { whyUnreachable } from '../post.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** An external host, and what does not work without it. */
export interface OutboundTarget {
  url: string
  needs: string
}

export const OUTBOUND: readonly OutboundTarget[] = [
  { url: 'https://www.googletagmanager.com', needs: 'tag_manager_version probes of web containers' },
  { url: 'https://tagmanager.googleapis.com', needs: 'tag_manager_version probes of server containers' },
  { url: 'https://bigquery.googleapis.com', needs: 'warehouse_events probes' },
  { url: 'https://analyticsdata.googleapis.com', needs: 'ga4_counts probes' },
  { url: 'https://graph.facebook.com', needs: 'meta_quality probes' },
  { url: 'https://api.app.stape.io', needs: 'tag_server_infra and image_version probes with hosting provider A' },
]

const TIMEOUT_MS = 4 * SECOND
/** Tolerance: the Date header has whole seconds, and a slow answer adds more. */
const MAX_SKEW_MS = 5 * SECOND

/** Whether a host answered, and how far our clock is ahead of its clock, ms; null when it sent no date. */
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
 * How far our clock, which showed `began` and `ended` around a request, is ahead of the one that wrote the Date header, ms. The
 * header is cut to whole seconds, so half a second is added as the best estimate.
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

/** @param answers of several hosts: the median counts, because one clock may be wrong */
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
  return { check, level: 'warning', text: `${seconds} s ${direction}: enable NTP, or events get wrong times` }
}

/** Whether the service can listen, or already does. Listens for a moment. */
export async function portFinding({ host, port }: Config): Promise<DoctorFinding> {
  const check = 'port'
  const where = `HOST=${host} PORT=${port}`
  const code = await whyNotListening(host, port)
  if (code === null) return { check, level: 'ok', text: `${where} is free` }
  if (code === 'EADDRINUSE') {
    if (await isTagwarden(localAddress(host, port))) {
      return { check, level: 'ok', text: `${where} is where a Tagwarden runs` }
    }
    const text = `${where} is in use by another program: stop it, or choose another PORT`
    return { check, level: 'failed', text }
  }
  return { check, level: 'failed', text: `cannot listen on ${where}: ${ADVICE[code] ?? code}` }
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use that port: choose one from 1024 up, and leave 443 to the proxy',
  EADDRNOTAVAIL: 'this machine does not have that address: set HOST to one that it has',
  ENOTFOUND: 'that name does not resolve: set HOST to an address of this machine',
  EAI_AGAIN: 'that name cannot be looked up: set HOST to an address of this machine',
}

async function whyNotListening(host: string, port: number): Promise<string | null> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return null
  } catch (thrown) {
    const error = asError(thrown)
    return 'code' in error && typeof error.code === 'string' ? error.code : error.message
  }
}

async function isTagwarden(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return (await answer.text()).includes('tagwarden_info{')
  } catch {
    return false
  }
}

/** The address at which this machine reaches a service that listens on `host`. */
export function localAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

const RECEIVER_TIMEOUT_MS = 5 * SECOND

/** Whether the mail server accepts our login; sends nothing. Null without a mail server. */
export async function smtpFinding({ smtpUrl, smtpFrom }: Config): Promise<DoctorFinding | null> {
  if (smtpUrl === null) return null
  const check = 'SMTP_URL'
  const server = smtpServer(smtpUrl)
  const mailer = createTransport({
    ...server,
    connectionTimeout: RECEIVER_TIMEOUT_MS,
    greetingTimeout: RECEIVER_TIMEOUT_MS,
    socketTimeout: RECEIVER_TIMEOUT_MS,
    dnsTimeout: RECEIVER_TIMEOUT_MS,
  })
  try {
    await mailer.verify()
    const login = server.auth === undefined ? '' : ' and accepts the login'
    return { check, level: 'ok', text: `${server.host}:${server.port} answers${login}; e-mail comes from ${smtpFrom}` }
  } catch (thrown) {
    const outcome = outcomeOfFailure(thrown, `${server.host}:${server.port}`)
    const why = 'error' in outcome ? outcome.error : 'no answer'
    return {
      check,
      level: 'warning',
      text: `${why}; without it no e-mail is sent: check that SMTP_URL is right and reachable`,
    }
  } finally {
    mailer.close()
  }
}

/**
 * Whether the hosts of CHAT_WEBHOOK_URL and HEARTBEAT_URL answer, asked through `outbound` as messages are. Asks only for their front
 * page: a request to the address itself could post a message or count as a heartbeat.
 */
export async function receiverFindings(config: Config): Promise<DoctorFinding[]> {
  const { chatWebhookUrl, heartbeatUrl, outboundAllow: allow } = config
  const outbound = createOutbound({ allow, userAgent: `Tagwarden/${VERSION}`, clock: systemClock })
  const findings = [
    receiverFinding(outbound, 'CHAT_WEBHOOK_URL', chatWebhookUrl, 'no one is notified there'),
    receiverFinding(outbound, 'HEARTBEAT_URL', heartbeatUrl, 'Tagwarden will be reported as down'),
  ]
  return (await Promise.all(findings)).filter((finding) => finding !== null)
}

async function receiverFinding(
  outbound: Outbound,
  check: string,
  address: string | null,
  otherwise: string,
): Promise<DoctorFinding | null> {
  if (address === null) return null
  const { host, origin, username } = new URL(address)
  try {
    // Messages to an address with a user name are refused by `outbound`. `origin` drops the name, so put one in for the same refusal.
    const front = username === '' ? `${origin}/` : `${origin.replace('//', '//user@')}/`
    await outbound.request(front, { method: 'HEAD', limits: { totalMs: RECEIVER_TIMEOUT_MS } })
    return { check, level: 'ok', text: `${host} answers` }
  } catch (thrown) {
    const text = `${asError(thrown).message}; fix that, or ${otherwise}`
    return { check, level: 'warning', text }
  }
}
