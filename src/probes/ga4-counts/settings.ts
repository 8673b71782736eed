import { type Static, Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import { type ErrorDetail, fieldsOf, HOUR, storable } from '../../lib/index.ts'
import type { SiteRow, Store } from '../../store/index.ts'

export const TYPE_NAME = 'ga4_counts'
const DEFAULT_SOURCE = 'GA4'
/** Google: “We may take 24-48 hours to process data. During that time, data in your reports may change.” */
const DEFAULT_SETTLED_HOURS = 48
/** 14 days of 20 events are an answer of 2 MB, and a tenth of the values that are parsed at most. */
const DAYS_MAX = 14
const EVENTS_MAX = 20

const isPlain = { pattern: '^\\P{Cc}+$', [EXPECTS]: 'text without control characters' }

export const Config = Type.Object(
  {
    events: Type.Array(Type.String({ ...isPlain, minLength: 1, maxLength: 300 }), {
      minItems: 1,
      maxItems: EVENTS_MAX,
      description: 'Events as the tag sends them: purchase; where GA4 has another name, both: order=purchase',
    }),
    source: Type.String({
      ...isPlain,
      minLength: 1,
      maxLength: 64,
      default: DEFAULT_SOURCE,
      description: 'Name of the source that the counts are stored under',
    }),
    days: Type.Integer({
      minimum: 1,
      maximum: DAYS_MAX,
      default: 7,
      description: 'Days of settled hours that each run fetches again, to pick up changes that GA4 made to them',
    }),
    settled_after_hours: Type.Integer({
      minimum: 24,
      maximum: 96,
      default: DEFAULT_SETTLED_HOURS,
      description:
        'Hours more recent than this are not written, because GA4 still adds to them: for 24 to 48 hours, according to Google',
    }),
    exact_only: Type.Boolean({
      default: true,
      description: 'Writes nothing while GA4 reports that its counts are sampled, or that some are in “(other)”',
    }),
  },
  { additionalProperties: false },
)

export type Settings = Static<typeof Config>

/** An event with both of its names. */
export interface NamedEvent {
  /** Its name in Tagwarden. */
  name: string
  /** Its name in GA4. */
  ga4: string
}

/** The limit for names of ingested events. */
const NAME_MAX = 256
/** GA4 allows 40 characters; older rules allowed more. */
const GA4_NAME_MAX = 100

/** Reads `purchase` or `order=purchase`. GA4's names contain no `=`, so the last one separates. */
export const eventsOf = ({ events }: Pick<Settings, 'events'>): NamedEvent[] =>
  events.map((text) => {
    const at = text.lastIndexOf('=')
    const [name, ga4] = at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 1)]
    return { name: storable(name.trim()), ga4: storable(ga4.trim()) }
  })

export function checkConfig(config: Settings): readonly ErrorDetail[] {
  const events = eventsOf(config)
  const faults = events.flatMap(({ name, ga4 }, index) => {
    const message = faultOf(name, ga4) ?? twice(events, index)
    return message === null ? [] : [{ path: `/events/${index}`, message }]
  })
  return config.source.trim() === ''
    ? [{ path: '/source', message: 'must be text that is not blank' }, ...faults]
    : faults
}

function faultOf(name: string, ga4: string): string | null {
  if (name === '' || ga4 === '') return 'must be a name, or two with = between them'
  if (name.length > NAME_MAX) return `must have a name of at most ${NAME_MAX} characters`
  return ga4.length > GA4_NAME_MAX ? `must have a name in GA4 of at most ${GA4_NAME_MAX} characters` : null
}

function twice(events: readonly NamedEvent[], index: number): string | null {
  const name = events[index]?.name
  const first = events.findIndex((event) => event.name === name)
  return first === index ? null : `must not be the same event as /events/${first}`
}

/** A source of reference counts that an active probe fetches. */
export interface FetchedSource {
  /** Name of the probe. */
  probe: string
  /** Its newest count is at least this old. */
  settledAfterMs: number
}

/** Returns null when no active probe of the site fetches the source; the slowest when several do. */
export async function fetchedSource(
  { read }: Pick<Store, 'read'>,
  { id }: Pick<SiteRow, 'id'>,
  source: string,
): Promise<FetchedSource | null> {
  const probes = await read
    .selectFrom('probes')
    .select(['name', 'config'])
    .where('site_id', '=', id)
    .where('probe_type', '=', TYPE_NAME)
    .where('is_active', '=', 1)
    .orderBy('id')
    .execute()
  const fetched = probes.flatMap(({ name, config }) => {
    const { source: of = DEFAULT_SOURCE, settled_after_hours: hours = DEFAULT_SETTLED_HOURS } = fieldsOf(
      JSON.parse(config),
    )
    return of === source && typeof hours === 'number' ? [{ probe: name, settledAfterMs: hours * HOUR }] : []
  })
  return fetched.toSorted((a, b) => b.settledAfterMs - a.settledAfterMs)[0] ?? null
}
