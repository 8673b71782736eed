import { MINUTE, quoted } from '../../../src/lib/index.ts'
import { timeOf } from '../../detection/world.ts'
import type { Cause } from './causes.ts'
import type { Symptom } from './measure.ts'

/** Of each incident that holds two faults, and of each fault in several incidents, its alerts: what there was to go by. */
export function listing(symptoms: readonly Symptom[]): string[] {
  const real = symptoms.filter(({ cause }) => cause !== null)
  const merged = [...Map.groupBy(symptoms, ({ incident }) => incident)].flatMap(([incident, held]) =>
    distinct(held.flatMap(({ cause }) => cause?.id ?? [])) > 1 ? [`incident ${incident}:`, ...held.map(line)] : [],
  )
  const split = [...Map.groupBy(real, ({ cause }) => cause)].flatMap(([cause, shown]) =>
    distinct(shown.map(({ incident }) => incident)) > 1 ? [`fault ${span(cause)}:`, ...shown.map(line)] : [],
  )
  return ['Incidents with two faults', ...merged, 'Faults in several incidents', ...split]
}

const distinct = (values: readonly string[]): number => new Set(values).size

function line({ incident, cause, shown, startedAt, resolvedAt, title }: Symptom): string {
  const end = resolvedAt === null ? '…' : clock(resolvedAt)
  const times = `began ${clock(startedAt)}, found ${clock(shown.openedAt)}, ended ${end}`
  return `  …${incident.slice(-6)} site ${shown.place} ${shown.probeType} ${quoted(title)} ${times}; ${span(cause)}`
}

const span = (cause: Cause | null): string =>
  cause === null ? 'a false alarm' : `${cause.id}, ${clock(timeOf(cause.from))} to ${clock(timeOf(cause.to))}`

/** `01-31 14:48` */
const clock = (at: number): string =>
  new Date(Math.round(at / MINUTE) * MINUTE).toISOString().slice(5, 16).replace('T', ' ')
