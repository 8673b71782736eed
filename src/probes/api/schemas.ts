import { type Static, Type } from 'typebox'
import { UNJUDGED_REASONS } from '../../detection/index.ts'
import { IsoTime, Limit, ListPages, model, nullable, Uuid } from '../../http/index.ts'
import { ActiveOnly, Name } from '../../management/index.ts'
import { type JsonObject, RESULT_STATUSES } from '../probe-type.ts'

const ResultStatus = Type.Enum([...RESULT_STATUSES], {
  description: '`ok`, `warning` and `critical` judge the target; `error`: the check itself could not run',
})

const Judged = Type.Boolean({
  description: 'False: an `ok` that says nothing about the target, or no result yet; totals leave it out',
})
export const UnjudgedReason = nullable(
  Type.Enum([...UNJUDGED_REASONS], {
    description:
      'Why nothing was judged: no data, or too little yet to know what is usual; null when the target was judged',
  }),
)

const Config = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })

const settable = {
  name: Name,
  config: Type.Unsafe<JsonObject>({
    ...Config,
    description: "Settings as in the type's `config_schema`; null resets a setting to its default",
  }),
  interval_seconds: Type.Integer({ minimum: 30, maximum: 86_400, description: "The type's default if left out" }),
  timeout_ms: Type.Integer({
    minimum: 100,
    maximum: 60_000,
    default: 10_000,
    description: 'Time limit of one attempt',
  }),
  failure_threshold: Type.Integer({
    minimum: 1,
    maximum: 20,
    default: 1,
    description: 'Consecutive bad results that open an alert',
  }),
  recovery_threshold: Type.Integer({
    minimum: 1,
    maximum: 20,
    default: 1,
    description: 'Consecutive ok results that resolve an alert',
  }),
  is_active: Type.Boolean({ default: true }),
}

export const PAUSED_BY = ['probe', 'site', 'client'] as const

export const ProbeRecord = model('Probe', {
  id: Uuid,
  site_id: Uuid,
  probe_type: Type.String(),
  ...settable,
  config: Type.Unsafe<JsonObject>({
    ...Config,
    description: 'All settings including defaults, without secrets; for viewers, addresses are without their query',
  }),
  secrets_set: Type.Array(Type.String(), { description: 'Names of the secret settings that are set' }),
  secret_fingerprints: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'A fingerprint of each secret, which changes with the secret and does not reveal it; empty for viewers',
  }),
  created_at: IsoTime,
  next_run_at: nullable(
    Type.String({
      format: 'date-time',
      description: 'When it runs next; null while it, its site or its client is paused',
    }),
  ),
  paused_by: nullable(
    Type.Enum([...PAUSED_BY], {
      description:
        'What keeps it from running: it is paused itself, or its site or client is; its last result is old then',
    }),
  ),
  last_status: nullable(ResultStatus),
  judged: Judged,
  reason: UnjudgedReason,
  last_message: nullable(Type.String()),
  last_response_time_ms: nullable(Type.Integer()),
  last_result_at: nullable(IsoTime),
  consecutive_failures: Type.Integer({
    description: 'Number of consecutive warning and critical results; an error neither adds to them nor ends them',
  }),
})
export type ProbeRecord = Static<typeof ProbeRecord>

export const UpdateProbe = Type.Partial(Type.Object(settable), { additionalProperties: false })
export type UpdateProbe = Static<typeof UpdateProbe>

export const CreateProbe = Type.Object(
  { site_id: Uuid, probe_type: Type.String({ maxLength: 100 }), ...UpdateProbe.properties },
  { additionalProperties: false },
)
export type CreateProbe = Static<typeof CreateProbe>

export const ProbeParams = Type.Object({ probe_id: Uuid })

export const ProbeQuery = Type.Object(
  {
    client_id: Type.Optional(Type.String({ ...Uuid, description: 'Only probes of this client' })),
    site_id: Type.Optional(Type.String({ ...Uuid, description: 'Only probes of this site' })),
    active_only: Type.Optional(ActiveOnly),
    ...ListPages,
  },
  { additionalProperties: false },
)
export type ProbeQuery = Static<typeof ProbeQuery>

export const ResultRecord = model('ProbeResult', {
  id: Uuid,
  probe_id: Uuid,
  status: ResultStatus,
  judged: Judged,
  reason: UnjudgedReason,
  message: Type.String(),
  response_time_ms: nullable(Type.Integer()),
  details: Type.Unsafe<JsonObject>({ ...Config, description: 'The figures that the status is based on' }),
  attempts: Type.Integer({ description: '2: the first attempt failed because of the network' }),
  executed_at: IsoTime,
  maintenance_id: nullable(Type.String({ format: 'uuid', description: 'The maintenance during which the probe ran' })),
})
export type ResultRecord = Static<typeof ResultRecord>

export const ResultQuery = Type.Object(
  {
    before: Type.Optional(
      Type.String({ description: 'Only results older than the one with this id, or than this ISO 8601 time' }),
    ),
    changes: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only results whose `status` or `reason` differs from the previous result',
      }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type ResultQuery = Static<typeof ResultQuery>

export const ProbeTypeRecord = model('ProbeType', {
  probe_type: Type.String(),
  title: Type.String(),
  description: Type.String({ description: 'What probes of this type check' }),
  kind: Type.Enum(['wire', 'data'], {
    description: '`wire` probes query other systems over the network, `data` probes judge what was ingested',
  }),
  site_fields: Type.Array(Type.String(), { description: 'The fields of the site that the probe reads' }),
  needs: Type.Array(Type.Array(Type.String()), {
    description: 'Lists of site fields: all fields of one of these lists must be set; empty = nothing is required',
  }),
  default_interval_seconds: Type.Integer(),
  min_interval_seconds: Type.Integer(),
  config_schema: Type.Unsafe<JsonObject>({
    ...Config,
    description: 'JSON schema of `config`, with defaults; `writeOnly` marks secrets, which are never returned',
  }),
})
export type ProbeTypeRecord = Static<typeof ProbeTypeRecord>
