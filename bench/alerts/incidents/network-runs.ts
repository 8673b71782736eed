import type { ProbeOutcome } from '../../../src/probes/index.ts'
import type { Random } from '../../detection/random.ts'
import { FIRST_JUDGED, SLOTS } from '../../detection/world.ts'
import type { Agency, Cause } from './causes.ts'
import { type Run, RunLog } from './data-runs.ts'

/** The probes of the network, and the slots from one run to the next. */
export const NETWORK_PROBES = { http_health: 5, tag_server_infra: 15 } as const

/** A server that is back is looked at so long, as of any run that found something bad. */
const OK: ProbeOutcome = { status: 'ok', message: 'the tag server answered 200', details: {} }

/**
 * What the probes of the network find on one site. While our own connection is away they get no answer, which they take for the
 * server's fault, as they do in the program: who is to blame is asked afterwards.
 */
export function networkRuns({ sites, causes }: Agency, place: number, random: Random): Run[] {
  const site = sites[place]
  if (site === undefined || !site.hasTagServer) return []
  const mine = causes.filter(
    ({ kind, server, faults }) => kind === 'connection' || (server !== null && faults.has(place)),
  )
  const log = new RunLog()
  for (const [probe, every] of Object.entries(NETWORK_PROBES)) {
    for (let slot = FIRST_JUDGED + random.between(0, every); slot < SLOTS; slot += every) {
      const isBlip = probe === 'http_health' && site.blips.some((at) => slot <= at && at < slot + every)
      const lasting = mine.find(({ from, to }) => slot >= from && slot < to)
      const runsOut = site.certificate !== null && slot >= site.certificate.from && slot < site.certificate.to
      log.addOutcome(probe, slot, () => (isBlip ? NO_ANSWER : outcomeIn(lasting, runsOut, random)))
    }
  }
  return log.runs
}

function outcomeIn(cause: Cause | undefined, runsOut: boolean, random: Random): ProbeOutcome {
  if (cause?.kind === 'connection') return NO_ANSWER
  switch (cause?.server) {
    case 'down':
      return bad('critical', 'the tag server answered 502')
    case 'unsteady':
      return random.chance(0.5) ? bad('critical', 'the tag server answered 503') : OK
    case 'slow':
      return bad('warning', 'the tag server took 6,400 ms to answer')
    default:
      return runsOut ? bad('warning', 'the certificate of the tag server runs out in 13 days') : OK
  }
}

const bad = (status: 'warning' | 'critical', message: string): ProbeOutcome => ({
  status,
  message,
  details: { findings: [{ check: 'status', status, message }] },
})

const NO_ANSWER: ProbeOutcome = {
  ...bad('critical', 'the tag server does not answer attempts to connect'),
  isNetworkFailure: true,
}
