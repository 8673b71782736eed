import { type Static, type TObject, Type } from 'typebox'
import type { Expectation, Subject, SubjectFinding, TimeRange, UnjudgedReason } from '../detection/index.ts'
import { checkerOf } from '../http/index.ts'
import { AppError, type ErrorDetail } from '../lib/index.ts'
import { type Outbound, OutboundError, type OutboundErrorKind, UNREACHED } from '../outbound/index.ts'
import type { ReferenceCount } from '../reconciliation/index.ts'
import type { ProbeRow, SiteRow, Store } from '../store/index.ts'
import type { Pages } from './types/pages.ts'

/** Most urgent first: the order in which statuses are sorted for people. */
export const RESULT_STATUSES = ['critical', 'error', 'warning', 'ok'] as const

/** `ok`, `warning` and `critical` judge the target; `error` says that the check itself could not be made. */
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** Values that survive `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** A new version of something that a site runs, seen for the first time. */
export interface DeployMarker {
  /** What changed, e.g. `web container`. */
  source: string
  fromVersion: string | null
  toVersion: string
  /** When it was seen, epoch ms; without it, when the probe ran. */
  at?: number
  details?: JsonObject
}

/** What a run found. */
export interface ProbeOutcome {
  status: ResultStatus
  /**
   * Why nothing could be judged. Only on an `ok` that says nothing about the target: it is left out of all sums and neither
   * opens nor resolves an alert. Undefined when something was judged.
   */
  reason?: UnjudgedReason | undefined
  /** One sentence for people: what was found, with the numbers that decided. */
  message: string
  /** Explains the status to a reader without the code: measured, expected, since when, which event or tag. At most 16,000 characters of JSON. */
  details: Readonly<Record<string, unknown>>
  /** How long the target took to answer, ms; undefined when the run asked nothing over the network. */
  responseTimeMs?: number
  /** The `memory` of the next run. Undefined keeps the one that this run got. */
  memory?: JsonObject
  deployMarkers?: readonly DeployMarker[]
  /**
   * For types that judge many subjects: the bad ones, worst first. Each subject has its own alert, and one that is missing here counts as
   * fine, unless `fine` is given. Undefined when the target is the only subject; `status` and `message` then describe it.
   */
  findings?: readonly SubjectFinding[]
  /**
   * For types that judge many subjects but not all of them in every run: those judged and found fine. A subject in neither
   * list was not seen, which does not make it fine.
   */
  fine?: readonly Subject[]
  /** True when the data was refused. A subject that was not seen may then still be there. */
  isRefused?: boolean
  /** Since when the target is bad, epoch ms; undefined when the run knows only that it is bad now. */
  startedAt?: number
  /**
   * True when the network failed (see `isNetworkFailure`). If time is left, the probe runs again a second later and the
   * second outcome counts. A thrown OutboundError of these kinds has the same effect.
   */
  isNetworkFailure?: boolean
  /**
   * For an `error` whose one cause affects all probes, such as our own connection. People are notified of that cause once, so
   * this error counts neither for nor against the probe.
   */
  isOurs?: boolean
}

/** What a run is given. */
export interface ProbeContext<Config> {
  site: SiteRow
  /** `recent_statuses` is empty in the first run, and in the first after a pause. */
  probe: Pick<ProbeRow, 'id' | 'interval_seconds' | 'recent_statuses'>
  /** Checked against the type's schema, with its defaults filled in. */
  config: Config
  /** What the last run left, `{}` before the first. Another version of Tagwarden may have written it. */
  memory: JsonObject
  /** When the run started, epoch ms. For `data` probes, the time up to which every received event is in the counts. */
  now: number
  /** Time limit of the run; `signal` is aborted when it is over. */
  timeoutMs: number
  /**
   * Pass it on to every request. After the abort, the type has half a second to return an outcome, because only the type can
   * judge a target that did not answer in time. Then the result is an `error`, whatever the run still does.
   */
  signal: AbortSignal
  store: Pick<Store, 'read' | 'reports'>
  /**
   * Writes what another system counted of the site's events, all from one source; writing the same counts again changes nothing. Returns how many
   * counts were new or different.
   *
   * @throws AppError `conflict` when the site would have too many sources or events
   */
  writeReferences: (counts: readonly ReferenceCount[]) => Promise<number>
  /** When people last acknowledged or resolved an alert of this probe by hand, epoch ms; null when they never did. */
  lastReview: () => Promise<number | null>
  /** The only way to the network. */
  outbound: Outbound
  /** The only way to read pages and scripts. Strangers wrote them, so they may be of any size and content. */
  pages: Pages
  settings: ProbeSettings
}

/** The fields of a site that a probe may need. `url` and `timezone` are always set. */
type SiteField = Exclude<
  keyof SiteRow,
  'site_no' | 'id' | 'client_id' | 'ingest_key' | 'is_active' | 'key_revoked_at' | 'created_at'
>

/** Alternatives: all fields of at least one list must be set. Empty when nothing is needed. */
type NeededFields = readonly (readonly SiteField[])[]

/** One kind of probe, with all that sets it apart from others: one file in `types/` and one line in `registry.ts`. */
export interface ProbeType<Config extends TObject = TObject> {
  /** Its `probe_type`, e.g. `http_health`. */
  name: string
  /** For people, e.g. `Tag server health`. */
  title: string
  /** What it checks, in one sentence. */
  description: string
  /**
   * `wire` probes ask other systems over the network, `data` probes judge what was ingested. Each kind has its own slots:
   * targets that hang do not hold up the probes that only read our data.
   */
  kind: 'wire' | 'data'
  /** Every field of the site that it reads. */
  siteFields: readonly SiteField[]
  /** The fields without which it can be neither created nor run. */
  needs: NeededFields
  /** The fields with which `auto_probes` creates it, if more than `needs`; null = never. */
  autoNeeds?: NeededFields | null
  /**
   * The settings of one probe: `Type.Object({ … }, { additionalProperties: false })`. Every property has a `default` and a
   * `description`, unless it is required or `Type.Optional`. Secrets are made with `SecretText` or `RequiredSecret`.
   */
  config: Config
  /** Checks what the schema cannot express, e.g. that one bound is below the other. Paths are like `/window_minutes`. */
  checkConfig?: (config: Static<Config>) => readonly ErrorDetail[]
  /** For each secret that is sent to the address in another setting, the name of that setting. A new host needs the secret again. */
  secretsSentTo?: Readonly<Record<string, string>>
  /** Formats a finding's number, e.g. as `31 %`. Undefined when it is a count. */
  figure?: (value: number, write: (value: number) => string, subject: Readonly<Record<string, unknown>>) => string
  /** Whether jobs call it: each probe then gets its own address when it is created. */
  isCalled?: boolean
  defaultIntervalSeconds: number
  /** For targets that must not be asked more often. Default: 30. */
  minIntervalSeconds?: number
  run: (context: ProbeContext<Static<Config>>) => Promise<ProbeOutcome>
  /** For types that compare an hour's count with what is usual: the expected counts and those that would pass. */
  expectation?: (context: ExpectationContext<Static<Config>>) => Promise<ExpectedCounts>
}

/** A question about what a probe expects. */
export interface ExpectationContext<Config> extends Pick<ProbeContext<Config>, 'site' | 'config' | 'now'> {
  store: Pick<Store, 'reports'>
  /** The event, or null for all events together. */
  eventName: string | null
  /** The hours in question. */
  range: TimeRange
}

/** The answer to an `ExpectationContext`. */
export interface ExpectedCounts extends Expectation {
  /** Every event that the probe knows, most frequent first. */
  events: readonly string[]
  /** Number of whole days that it has learnt from. */
  learntDays: number
  /** Factor by which feedback has widened what passes, as a variance; 1 without feedback. */
  widening: number
  /** The newest feedback that did. */
  widenedBy: readonly { alert_id: string; given_at: number }[]
  /** Public holidays in and around the learnt days. */
  special: readonly TimeRange[]
  /** Which counts are bad: too low, too high or both. */
  direction: 'down' | 'up' | 'both'
}

/** Types `config` in `run`; the registry needs one type for all configs. */
export const defineProbeType = <Config extends TObject>(type: ProbeType<Config>): ProbeType => type as ProbeType

/** A secret setting: it can be written, and no answer, log or audit entry shows it. Only at the top level of the config. */
export const SecretText = (description: string) => Type.Optional(RequiredSecret(description))

/** A required secret, see `SecretText`. */
export const RequiredSecret = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, writeOnly: true, description })

const NETWORK_FAILURES: readonly OutboundErrorKind[] = [...UNREACHED, 'interrupted']

/** Whether a request failed in a way that may pass within a second. */
export const isNetworkFailure = (thrown: unknown): boolean =>
  thrown instanceof OutboundError && NETWORK_FAILURES.includes(thrown.kind)

/** A Google Cloud service account key, as in its JSON file. */
export interface GoogleCredentials {
  client_email: string
  private_key: string
  /** Address that issues access tokens. */
  token_uri: string
}

/** Addresses and credentials of the providers that probes ask, shared by all probes; null = not configured. */
export interface ProbeSettings {
  /** Host of `gtm.js`, without a trailing slash. */
  tagManagerBaseUrl: string
  tagManagerApiUrl: string
  googleCredentials: GoogleCredentials | null
  warehouseApiUrl: string
  ga4ApiUrl: string
  /** Includes the version, e.g. `https://graph.facebook.com/v25.0`. */
  metaApiUrl: string
  hostingAApiUrl: string
  hostingAToken: string | null
  /** Contains `{container_id}`. */
  hostingBStatusUrl: string | null
  hostingBToken: string | null
}

const checkers = new WeakMap<ProbeType, (config: unknown) => ErrorDetail[]>()

/** Returns the given settings, with the type's defaults for those that are missing. */
export function withDefaults({ config }: ProbeType, given: JsonObject): JsonObject {
  const defaults = Object.entries(config.properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  )
  return { ...Object.fromEntries(defaults), ...given }
}

/** Returns everything that is wrong with a probe's settings, with paths like `/config/window_minutes`; empty when they are valid. */
export function configFaults(type: ProbeType, given: JsonObject): ErrorDetail[] {
  let check = checkers.get(type)
  if (check === undefined) {
    check = checkerOf(type.config)
    checkers.set(type, check)
  }
  const config = withDefaults(type, given)
  const faults = check(config)
  const all = faults.length > 0 ? faults : (type.checkConfig?.(config) ?? [])
  return all.map(({ path, message }) => ({ path: `/config${path}`, message }))
}

/** @throws AppError `invalid_request` naming every setting that is wrong. */
export function requireConfig(type: ProbeType, given: JsonObject): void {
  const faults = configFaults(type, given)
  if (faults.length === 0) return
  throw new AppError('invalid_request', faults.map(({ path, message }) => `${path} ${message}`).join('; '), faults)
}

/** Returns `before` with the named settings changed; null resets a setting to its default. */
export function mergedConfig(before: JsonObject, patch: JsonObject): JsonObject {
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged)
}

/** Names of the type's secret settings. */
export const secretNames = ({ config }: ProbeType): string[] =>
  Object.entries(config.properties).flatMap(([name, schema]) =>
    'writeOnly' in schema && schema.writeOnly === true ? [name] : [],
  )

interface ShownConfig {
  /** All settings with their defaults, without secrets. */
  config: JsonObject
  /** Names of the secrets that have a value. */
  secretsSet: string[]
}

export function shownConfig(type: ProbeType, given: JsonObject): ShownConfig {
  const secrets = secretNames(type)
  const config = Object.entries(withDefaults(type, given)).filter(([name]) => !secrets.includes(name))
  return { config: Object.fromEntries(config), secretsSet: secrets.filter((name) => name in given) }
}

/** Whether the site has the needed fields. */
export const isMet = (needs: NeededFields, site: Readonly<Record<SiteField, unknown>>): boolean =>
  needs.length === 0 || needs.some((fields) => fields.every((field) => site[field] !== null))

/** The alternatives as text: `tag_server_url`, or `warehouse_project and warehouse_dataset`. */
export const needsInWords = (needs: NeededFields): string => needs.map((fields) => fields.join(' and ')).join(', or ')

/** Whether `auto_probes` creates a probe of this type for the site. */
export function isAutomatic({ needs, autoNeeds = needs }: ProbeType, site: Parameters<typeof isMet>[1]): boolean {
  return autoNeeds !== null && isMet(needs, site) && isMet(autoNeeds, site)
}
