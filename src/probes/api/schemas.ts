import { type Static, Type } from 'typebox'
import { UNJUDGED_REASONS } from '../../detection/index.ts'
import { IsoTime, Limit, nullable, Uuid } from '../../http/index.ts'
import { ActiveOnly, Name } from '../../management/index.ts'
import { type JsonObject, RESULT_STATUSES } from '../probe-type.ts'

const ResultStatus = Type.Enum([...RESULT_STATUSES], {
  description: '`ok`, `warning` and `critical` judge the target; `error`: the check itself could not be made',
})

const Judged = Type.Boolean({
  description: 'False: an `ok` that says nothing about the target, or no result yet; sums of results leave it out',
})
export const UnjudgedReason = nullable(
  Type.Enum([...UNJUDGED_REASONS], {
    description: 'Why nothing was judged: nothing came, or too little yet to know what is usual; null where it was',
  }),
)

const Config = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true })

const settable = {
  name: Name,
  config: Type.Unsafe<JsonObject>({
    ...Config,
    description: 'As the `config_schema` of the type says; null puts a setting back to its default',
  }),
  interval_seconds: Type.Integer({ minimum: 30, maximum: 86_400, description: "The type's own by default" }),
  timeout_ms: Type.Integer({ minimum: 100, maximum: 60_000, default: 10_000, description: 'Of one attempt' }),
  failure_threshold: Type.Integer({ minimum: 1, maximum: 20, default: 1, description: 'Bad results before a message' }),
  recovery_threshold: Type.Integer({
    minimum: 1,
    maximum: 20,
    default: 1,
    description: 'Ok results that end an alert',
  }),
  is_active: Type.Boolean({ default: true }),
}

export const ProbeRecord = Type.Object({
  id: Uuid,
  site_id: Uuid,
  probe_type: Type.String(),
  ...settable,
  config: Type.Unsafe<JsonObject>({
    ...Config,
    description: 'All settings with their defaults, but no secret; for viewers without queries of addresses',
  }),
  secrets_set: Type.Array(Type.String(), { description: 'Names of the secret settings that are set' }),
  secret_fingerprints: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Of each of them one that changes with it and does not show it; empty for viewers',
  }),
  created_at: IsoTime,
  next_run_at: nullable(Type.String({ format: 'date-time', description: 'Null while inactive' })),
  last_status: nullable(ResultStatus),
  judged: Judged,
  reason: UnjudgedReason,
  last_message: nullable(Type.String()),
  last_response_time_ms: nullable(Type.Integer()),
  last_result_at: nullable(IsoTime),
  consecutive_failures: Type.Integer({
    description: 'Warnings and criticals in a row; an error neither adds to them nor ends them',
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
  { client_id: Type.Optional(Uuid), site_id: Type.Optional(Uuid), active_only: Type.Optional(ActiveOnly) },
  { additionalProperties: false },
)
export type ProbeQuery = Static<typeof ProbeQuery>

export const ResultRecord = Type.Object({
  id: Uuid,
  probe_id: Uuid,
  status: ResultStatus,
  judged: Judged,
  reason: UnjudgedReason,
  message: Type.String(),
  response_time_ms: nullable(Type.Integer()),
  details: Type.Unsafe<JsonObject>({ ...Config, description: 'What the status was judged by' }),
  attempts: Type.Integer({ description: '2: the network failed the first time' }),
  executed_at: IsoTime,
  maintenance_id: nullable(Type.String({ format: 'uuid', description: 'The maintenance during which it was found' })),
})
export type ResultRecord = Static<typeof ResultRecord>

export const ResultQuery = Type.Object(
  {
    before: Type.Optional(
      Type.String({ description: 'Only results older than this one (its id) or than this time (ISO)' }),
    ),
    changes: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Only results whose `status` or `reason` differs from that of the result before',
      }),
    ),
    limit: Type.Optional(Limit),
  },
  { additionalProperties: false },
)
export type ResultQuery = Static<typeof ResultQuery>

export const ProbeTypeRecord = Type.Object({
  probe_type: Type.String(),
  title: Type.String(),
  description: Type.String({ description: 'What it checks' }),
  kind: Type.Enum(['wire', 'data'], {
    description: '`wire` asks other systems over the network, `data` judges what was ingested',
  }),
  site_fields: Type.Array(Type.String(), { description: 'The fields of the site that it reads' }),
  needs: Type.Array(Type.Array(Type.String()), {
    description: 'One of these lists of site fields has to be filled; empty = nothing is needed',
  }),
  default_interval_seconds: Type.Integer(),
  min_interval_seconds: Type.Integer(),
  config_schema: Type.Unsafe<JsonObject>({
    ...Config,
    description: 'JSON schema of `config`, with defaults; `writeOnly` marks secrets, which are never returned',
  }),
})
export type ProbeTypeRecord = Static<typeof ProbeTypeRecord>
