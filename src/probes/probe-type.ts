import { type Static, type TObject, Type } from 'typebox'
import type { Expectation, Subject, SubjectFinding, TimeRange, UnjudgedReason } from '../detection/index.ts'
import { checkerOf } from '../http/index.ts'
import { AppError, type ErrorDetail } from '../lib/index.ts'
import { type Outbound, OutboundError, type OutboundErrorKind, UNREACHED } from '../outbound/index.ts'
import type { ReferenceCount } from '../reconciliation/index.ts'
import type { ProbeRow, SiteRow, Store } from '../store/index.ts'
import type { Pages } from './types/pages.ts'

/** From what needs a person first to what needs none. */
export const RESULT_STATUSES = ['critical', 'error', 'warning', 'ok'] as const

/** `ok`, `warning` and `critical` judge the target; `error` says that the check itself could not be made. */
export type ResultStatus = (typeof RESULT_STATUSES)[number]

/** Everything that survives `JSON.stringify` and `JSON.parse` as it is. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** A version of what a site runs that was seen for the first time. */
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
   * Why nothing could be judged, of an `ok` that says nothing about the target: it counts in no sum and neither opens nor
   * resolves an alert. Left out where something was judged.
   */
  reason?: UnjudgedReason | undefined
  /** One sentence for people: what was found, with the numbers that decided. */
  message: string
  /** Explains the status without the code: measured, expected, since when, which event or tag. At most 16,000 characters of JSON. */
  details: Readonly<Record<string, unknown>>
  /** How long the target took to answer; left out where nothing was asked over the network. */
  responseTimeMs?: number
  /** What the next run is to be given as `memory`, instead of what this one was given; left out, that stays. */
  memory?: JsonObject
  deployMarkers?: readonly DeployMarker[]
  /**
   * Of a type that judges many subjects: what is bad, the worst first. Each subject has an alert of its own, and one that is
   * missing here is fine, unless `fine` is given. Left out, the target is the only subject, and the outcome speaks of it.
   */
  findings?: readonly SubjectFinding[]
  /**
   * Of such a type that cannot judge all of its subjects all the time: those that it judged and found fine. Then one that is in neither
   * list was not seen, which is no sign that it is fine.
   */
  fine?: readonly Subject[]
  /** True when what was sent was refused: that a subject was not seen does not say that it is gone. */
  isRefused?: boolean
  /** Since when the target is bad, epoch ms; left out where a bad result says no more than that it is bad now. */
  startedAt?: number
  /**
   * True when the network failed on the way (see `isNetworkFailure`): unless the time is over, the probe is run once more a
   * second later, and that outcome counts. A thrown OutboundError of such a kind is treated likewise.
   */
  isNetworkFailure?: boolean
  /**
   * Of an `error` that has one reason for all probes, which people are notified of once: it counts neither for nor against this
   * check.
   */
  isOurs?: boolean
}

/** What a run works with. */
export interface ProbeContext<Config> {
  site: SiteRow
  /** Which probe runs. */
  probe: Pick<ProbeRow, 'id' | 'interval_seconds'>
  /** Checked against the type's schema, with its defaults filled in. */
  config: Config
  /** What the last run left, `{}` before the first. Another version of the program may have written it. */
  memory: JsonObject
  /** When the run started, epoch ms; of a type of kind `data`, until when everything received is in the counts. */
  now: number
  /** What one run may take; the signal is aborted when it is over. */
  timeoutMs: number
  /**
   * To be handed on to every request. A target that did not answer in time is the type's to judge: after the abort it has
   * half a second to return an outcome. Then the result is an `error`, whatever the run still does.
   */
  signal: AbortSignal
  store: Pick<Store, 'read' | 'reports'>
  /**
   * Writes what another system counted of the site's events, all of one source; the same again changes nothing. Says how many counts were
   * new or others than before. @throws AppError `conflict` when the site would have too many sources or events
   */
  writeReferences: (counts: readonly ReferenceCount[]) => Promise<number>
  /** When people last acknowledged an alert of this probe or ended one by hand, epoch ms; null when they never did. */
  lastReview: () => Promise<number | null>
  /** The only way to the network. */
  outbound: Outbound
  /** The only way to read pages and scripts of any length: what is in them was written by strangers. */
  pages: Pages
  settings: ProbeSettings
}

/** The fields of a site that a probe may need. `url` and `timezone` are always filled. */
type SiteField = Exclude<
  keyof SiteRow,
  'site_no' | 'id' | 'client_id' | 'ingest_key' | 'is_active' | 'key_revoked_at' | 'created_at'
>

/** Alternatives: at least one of the lists has to be filled as a whole. Empty = nothing is needed. */
type NeededFields = readonly (readonly SiteField[])[]

/** A kind of probe: all that is particular to it. One file in `types/` and one line in `registry.ts`. */
export interface ProbeType<Config extends TObject = TObject> {
  /** As in `probe_type`, e.g. `http_health`. */
  name: string
  /** For people, e.g. `Tag server health`. */
  title: string
  /** What it checks, in one sentence. */
  description: string
  /**
   * `wire` probes ask other systems over the network, `data` probes judge what was ingested. Each kind has its own slots,
   * so that targets that hang do not hold up what only reads our data.
   */
  kind: 'wire' | 'data'
  /** Every field of the site it reads. */
  siteFields: readonly SiteField[]
  /** Without these it cannot be created, nor run. */
  needs: NeededFields
  /** What has to be filled for `auto_probes` to create it, where that is more than `needs`; null = never. */
  autoNeeds?: NeededFields | null
  /**
   * The settings of one probe: `Type.Object({ … }, { additionalProperties: false })`. Every property has a `default` and a
   * `description`, unless it is required or `Type.Optional`. Secrets are made with `SecretText` or `RequiredSecret`.
   */
  config: Config
  /** What the schema cannot say, e.g. that one bound is below the other; paths as `/window_minutes`. */
  checkConfig?: (config: Static<Config>) => readonly ErrorDetail[]
  /** Of secrets that go to an address in another setting its name: for another host they have to be given again. */
  secretsSentTo?: Readonly<Record<string, string>>
  /** How a figure of a finding is read, e.g. `31 %`; a count without it. */
  figure?: (value: number, write: (value: number) => string, subject: Readonly<Record<string, unknown>>) => string
  /** Whether jobs call it: each probe has an address of its own then, made with it. */
  isCalled?: boolean
  defaultIntervalSeconds: number
  /** For targets that may not be asked more often; 30 without it. */
  minIntervalSeconds?: number
  run: (context: ProbeContext<Static<Config>>) => Promise<ProbeOutcome>
  /** Of a type that compares an hour's count with what is usual: what it expects, and which counts pass. */
  expectation?: (context: ExpectationContext<Static<Config>>) => Promise<ExpectedCounts>
}

/** What someone asks who wants to know what a probe expects. */
export interface ExpectationContext<Config> extends Pick<ProbeContext<Config>, 'site' | 'config' | 'now'> {
  store: Pick<Store, 'reports'>
  /** Of an event, null for all of them. */
  eventName: string | null
  /** The hours that are asked for. */
  range: TimeRange
}

/** What a probe expects, and by what. */
export interface ExpectedCounts extends Expectation {
  /** Every event that it knows, the most frequent first. */
  events: readonly string[]
  /** Whole days that it has learnt from. */
  learntDays: number
  /** Public holidays in and around the days that it knows. */
  special: readonly TimeRange[]
  /** What is bad: too few, too many or both. */
  direction: 'down' | 'up' | 'both'
}

/** Keeps the type of `config` in `run`; the registry holds types of all sorts of configs. */
export const defineProbeType = <Config extends TObject>(type: ProbeType<Config>): ProbeType => type as ProbeType

/** A setting that can be written and never read: no answer, log or audit entry shows it. At the top of the config only. */
export const SecretText = (description: string) => Type.Optional(RequiredSecret(description))

/** Such a setting that the type cannot do without. */
export const RequiredSecret = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, writeOnly: true, description })

const NETWORK_FAILURES: readonly OutboundErrorKind[] = [...UNREACHED, 'interrupted']

/** Whether what a request failed with may be gone a second later. */
export const isNetworkFailure = (thrown: unknown): boolean =>
  thrown instanceof OutboundError && NETWORK_FAILURES.includes(thrown.kind)

/** Service-account key of Google Cloud, as its JSON file has it. */
export interface GoogleCredentials {
  client_email: string
  private_key: string
  /** Where access tokens are asked for. */
  token_uri: string
}

/** Where the providers are that probes ask, and what they are asked with; null = not set up. The same for all probes. */
export interface ProbeSettings {
  /** Host of `gtm.js`, without a slash at its end. */
  tagManagerBaseUrl: string
  tagManagerApiUrl: string
  googleCredentials: GoogleCredentials | null
  warehouseApiUrl: string
  ga4ApiUrl: string
  /** With its version, e.g. `https://graph.facebook.com/v25.0`. */
  metaApiUrl: string
  hostingAApiUrl: string
  hostingAToken: string | null
  /** With `{container_id}` in it. */
  hostingBStatusUrl: string | null
  hostingBToken: string | null
}

const checkers = new WeakMap<ProbeType, (config: unknown) => ErrorDetail[]>()

/** The given settings with the type's defaults for the others. */
export function withDefaults({ config }: ProbeType, given: JsonObject): JsonObject {
  const defaults = Object.entries(config.properties).flatMap(([name, schema]) =>
    'default' in schema ? [[name, schema.default]] : [],
  )
  return { ...Object.fromEntries(defaults), ...given }
}

/** Everything wrong with a probe's settings, with paths as `/config/window_minutes`. Empty when they can be used. */
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

/** Changes the named settings; null puts one back to its default. */
export function mergedConfig(before: JsonObject, patch: JsonObject): JsonObject {
  const merged = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(merged)
}

/** Names of the type's settings that are never shown. */
export const secretNames = ({ config }: ProbeType): string[] =>
  Object.entries(config.properties).flatMap(([name, schema]) =>
    'writeOnly' in schema && schema.writeOnly === true ? [name] : [],
  )

interface ShownConfig {
  /** All settings with their defaults, but no secret. */
  config: JsonObject
  /** Names of the secrets that are set. */
  secretsSet: string[]
}

export function shownConfig(type: ProbeType, given: JsonObject): ShownConfig {
  const secrets = secretNames(type)
  const config = Object.entries(withDefaults(type, given)).filter(([name]) => !secrets.includes(name))
  return { config: Object.fromEntries(config), secretsSet: secrets.filter((name) => name in given) }
}

/** Whether the site has what is needed. */
export const isMet = (needs: NeededFields, site: SiteRow): boolean =>
  needs.length === 0 || needs.some((fields) => fields.every((field) => site[field] !== null))

/** The alternatives as people read them: `tag_server_url`, or `warehouse_project and warehouse_dataset`. */
export const needsInWords = (needs: NeededFields): string => needs.map((fields) => fields.join(' and ')).join(', or ')

/** Whether `auto_probes` creates a probe of this type for the site. */
export function isAutomatic({ needs, autoNeeds = needs }: ProbeType, site: SiteRow): boolean {
  return autoNeeds !== null && isMet(needs, site) && isMet(autoNeeds, site)
}
