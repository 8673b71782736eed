import { Type } from 'typebox'
import { readOutages } from '../../cluster/index.ts'
import { isoTime, isoTimeOrNull, MINUTE, SECOND } from '../../lib/index.ts'
import { localMoment } from '../counts/unjudged.ts'
import { defineProbeType, type JsonObject, type ProbeOutcome } from '../probe-type.ts'
import { readPush } from '../push/address.ts'
import { judgePush, type PushMemory, waitingAfter } from '../push/judge.ts'

export const push = defineProbeType({
  name: 'push',
  title: 'Push',
  description:
    'Whether a job of yours, such as a backup, an import, a pipeline or a check, calls its address in time, and what it reports.',
  kind: 'data',
  siteFields: ['timezone'],
  needs: [],
  // Someone must first make a job call its address.
  autoNeeds: null,
  config: Type.Object(
    {
      period_minutes: Type.Integer({
        minimum: 1,
        maximum: 525_600,
        default: 1_440,
        description: 'How often the job calls: the next call is due this long after the previous one',
      }),
      grace_minutes: Type.Integer({
        minimum: 1,
        maximum: 44_640,
        default: 60,
        description: 'How late a call may be before it counts as missed; at least as long as the job takes',
      }),
      missed_status: Type.Enum(['critical', 'warning'], {
        default: 'critical',
        description: 'Severity of a missed call',
      }),
    },
    { additionalProperties: false },
  ),
  isCalled: true,
  defaultIntervalSeconds: 60,
  async run({ site, probe, config, memory, now, store }): Promise<ProbeOutcome> {
    const row = await readPush(store.read, probe.id)
    if (row === undefined) {
      return { status: 'error', message: 'It has no address that a job could call: create a new one', details: {} }
    }
    const { last_at: at, last_status: status, last_message: message } = row
    const last =
      at === null || status === null ? null : { at, status, message: message ?? '', since: row.status_since ?? at }
    const known = memoryOf(memory)
    const outages = await readOutages(store.read, Math.min(last?.at ?? row.made_at, known.ranAt ?? now), now)
    const interval = probe.interval_seconds * SECOND
    const waitingSince = waitingAfter(known, row.made_at, { now, interval, outages })
    const period = config.period_minutes * MINUTE
    const grace = config.grace_minutes * MINUTE
    const verdict = judgePush(
      {
        ...{ now, period, grace, missed: config.missed_status, waitingSince, last, outages },
        startedAt: row.started_at,
        timezone: site.timezone,
      },
      (time) => localMoment(time, site.timezone),
    )
    const { due, end, isPutOff, ...outcome } = verdict
    return {
      ...outcome,
      details: {
        last_call: isoTimeOrNull(at),
        last_status: status,
        last_message: message,
        last_duration_seconds: row.duration_ms === null ? null : row.duration_ms / SECOND,
        started: isoTimeOrNull(row.started_at),
        due: isoTime(due),
        missed_from: isoTime(end),
        put_off_by_own_downtime: isPutOff,
      },
      memory: { ran_at: now, interval, waiting_since: waitingSince },
    }
  },
})

/** Another version of Tagwarden may have written it. */
function memoryOf({ ran_at: ranAt, interval, waiting_since: waitingSince }: JsonObject): PushMemory {
  return {
    ranAt: typeof ranAt === 'number' ? ranAt : null,
    interval: typeof interval === 'number' ? interval : null,
    waitingSince: typeof waitingSince === 'number' ? waitingSince : null,
  }
}
