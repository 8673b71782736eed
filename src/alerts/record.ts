import type { AlertRow } from '../store/index.ts'

export const SEVERITIES = ['warning', 'critical'] as const
export const STATES = ['open', 'acknowledged', 'resolved'] as const
export const RESOLUTIONS = ['recovered', 'gone', 'manual', 'probe_removed', 'replaced'] as const

// The columns are text; our own writer wrote nothing else into them.

export const severityOf = ({ severity }: Pick<AlertRow, 'severity'>): (typeof SEVERITIES)[number] =>
  severity === 'critical' ? 'critical' : 'warning'

export const stateOf = ({ state }: Pick<AlertRow, 'state'>): (typeof STATES)[number] =>
  STATES.find((known) => known === state) ?? 'open'

export const resolutionOf = ({ resolution }: Pick<AlertRow, 'resolution'>): (typeof RESOLUTIONS)[number] | null =>
  RESOLUTIONS.find((known) => known === resolution) ?? null
