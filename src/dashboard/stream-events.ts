import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import type { Visible } from '../http/index.ts'
import type { ProbeStates, ProbesBySite } from '../probes/index.ts'
import type { Kysely, Tables } from '../store/index.ts'
import { probeStatus, type Status } from './status.ts'

/** The kinds of messages on `/api/stream`, and the data of each. */
export interface StreamEvents {
  /** Sent first, once the store could be read, and whenever there was no other message for 25 s. */
  alive: Record<string, never>
  /** Sites that received something since the last message. */
  ingest: { sites: SiteCounter[] }
  /** Probes whose status has changed. */
  status: { probes: ProbeStatus[] }
  /** Alerts that were opened, changed or resolved. */
  alerts: { alerts: AlertChange[] }
}

export interface SiteCounter {
  id: string
  last_event_at: string
  /** Events of the last five minutes. */
  events_5m: number
}

interface ProbeStatus {
  id: string
  site_id: string
  status: Status
}

interface AlertChange {
  id: string
  client_id: string
  site_id: string
  probe_id: string
  severity: 'warning' | 'critical'
  state: 'open' | 'acknowledged' | 'resolved'
  title: string
}

/** What happened since the last poll, for all clients. */
export type Happened = Pick<StreamEvents, 'ingest' | 'status' | 'alerts'>

/**
 * Returns the part of it that belongs to these clients.
 *
 * @param clientOf the client by site id; what belongs to a deleted site is shown to no one
 */
export function happenedTo(
  { ingest, status, alerts }: Happened,
  visible: Visible,
  clientOf: ReadonlyMap<string, string>,
): Happened {
  if (visible === null) return { ingest, status, alerts }
  const seen = new Set(visible)
  const isSeen = (siteId: string): boolean => seen.has(clientOf.get(siteId) ?? '')
  return {
    ingest: { sites: ingest.sites.filter(({ id }) => isSeen(id)) },
    status: { probes: status.probes.filter(({ site_id }) => isSeen(site_id)) },
    alerts: { alerts: alerts.alerts.filter(({ client_id }) => seen.has(client_id)) },
  }
}

/** Returns it as text: one message for each kind that is not empty. */
export function messagesOf({ ingest, status, alerts }: Happened): string {
  const message = <K extends keyof StreamEvents>(kind: K, data: StreamEvents[K], count: number): string =>
    count === 0 ? '' : `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`
  return (
    message('ingest', ingest, ingest.sites.length) +
    message('status', status, status.probes.length) +
    message('alerts', alerts, alerts.alerts.length)
  )
}

/** Finds the alerts that were opened, changed or resolved since the last call; none at the first call. */
export class AlertChanges {
  #known: Map<string, UnresolvedAlert> | null = null

  /** Forgets everything, after a time without calls. */
  reset(): void {
    this.#known = null
  }

  async since(db: Kysely<Tables>): Promise<AlertChange[]> {
    const alerts = await unresolvedAlerts(db)
    const before = this.#known
    this.#known = new Map(alerts.map((alert) => [alert.id, alert]))
    if (before === null) return []
    const changed = alerts.filter((alert) => !isSame(alert, before.get(alert.id)))
    const resolved = [...before.values()].filter(({ id }) => this.#known?.has(id) === false)
    return [...changed.map(changeOf), ...resolved.map((alert) => ({ ...changeOf(alert), state: 'resolved' as const }))]
  }
}

const isSame = (now: UnresolvedAlert, before: UnresolvedAlert | undefined): boolean =>
  before !== undefined && now.state === before.state && now.severity === before.severity && now.title === before.title

const changeOf = ({ id, clientId, siteId, probeId, severity, state, title }: UnresolvedAlert): AlertChange => ({
  id,
  client_id: clientId,
  site_id: siteId,
  probe_id: probeId,
  severity,
  state,
  title,
})

/** Finds the probes whose status has changed since the last call; none at the first call. */
export class StatusChanges {
  readonly #probes: Pick<ProbeStates, 'read'>
  #known: ProbesBySite | null = null

  constructor(probes: Pick<ProbeStates, 'read'>) {
    this.#probes = probes
  }

  /** Forgets everything, after a time without calls. */
  reset(): void {
    this.#known = null
  }

  async since(): Promise<ProbeStatus[]> {
    const now = await this.#probes.read()
    const before = this.#known
    this.#known = now
    if (before === null) return []
    return [...now].flatMap(([siteId, states]) => {
      const known = before.get(siteId)
      // The same array means that nothing of the site has changed.
      if (known === states) return []
      const statuses = new Map(known?.map((probe) => [probe.id, probeStatus(probe)]))
      return states.flatMap((probe) => {
        const status = probeStatus(probe)
        return status === statuses.get(probe.id) ? [] : [{ id: probe.id, site_id: siteId, status }]
      })
    })
  }
}
