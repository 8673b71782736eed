import { type UnresolvedAlert, unresolvedAlerts } from '../alerts/index.ts'
import type { Kysely, Tables } from '../store/index.ts'
import type { AlertChange } from './stream-events.ts'

/** Finds the alerts that were opened, changed or resolved since the last call; at first none was. */
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
