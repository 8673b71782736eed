import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, nullable, seesSecrets } from '../../http/index.ts'
import { type Clock, isoTime, isoTimeOrNull, notFound } from '../../lib/index.ts'
import { contextOf } from '../../management/index.ts'
import type { PushTable, Store } from '../../store/index.ts'
import { ProbeParams } from '../api/schemas.ts'
import type { Registry } from '../registry.ts'
import { readPush, renewAddress } from './address.ts'
import { PUSH_STATUSES } from './judge.ts'

export const PushRecord = model('PushAddress', {
  probe_id: Type.String({ format: 'uuid' }),
  token: nullable(
    Type.String({ description: 'Secret part of the address: anyone who has it can call; null for viewers' }),
  ),
  url: nullable(
    Type.String({ description: 'Address that the job calls; null without `token`, or if `PUBLIC_URL` is not set' }),
  ),
  made_at: IsoTime,
  last_call_at: nullable(IsoTime),
  last_status: nullable(Type.Enum([...PUSH_STATUSES], { description: 'What the last call reported' })),
  last_message: nullable(Type.String()),
  last_duration_ms: nullable(Type.Integer({ description: 'How long the job took, if known' })),
  started_at: nullable(
    Type.String({ format: 'date-time', description: 'When the job reported its start, while it is running' }),
  ),
})
export type PushRecord = Static<typeof PushRecord>

interface Options {
  store: Store
  clock: Clock
  registry: Registry
  /** Without a trailing slash; null when it is not configured. */
  publicUrl: string | null
}

const tags = ['Probes']
const path = '/api/probes/:probe_id/push'

/** Adds the routes for a push probe's address and its last call. */
export function pushAddressRoutes(app: HttpApp, options: Options): void {
  const { store, registry, publicUrl } = options
  const called = [...registry.values()].filter(({ isCalled }) => isCalled === true).map(({ name }) => name)

  const recordOf = (row: PushTable, showsToken: boolean): PushRecord => ({
    probe_id: row.probe_id,
    token: showsToken ? row.token : null,
    url: showsToken && publicUrl !== null ? `${publicUrl}/push/${row.token}` : null,
    made_at: isoTime(row.made_at),
    last_call_at: isoTimeOrNull(row.last_at),
    last_status: row.last_status,
    last_message: row.last_message,
    last_duration_ms: row.duration_ms,
    started_at: isoTimeOrNull(row.started_at),
  })

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read the address that a job calls',
        description:
          'For a `push` probe: its address and its last call. Viewers see only the last call. 404 for other types of probes.',
        params: ProbeParams,
        response: { 200: PushRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const row = await readPush(store.read, request.params.probe_id)
      if (row === undefined) throw notFound('Address')
      return recordOf(row, seesSecrets(request.access))
    },
  )

  app.post(
    `${path}/new-address`,
    {
      schema: {
        tags,
        summary: 'Give a push probe a new address',
        description: 'The previous one stops working. The next call is due as if it were the first.',
        params: ProbeParams,
        response: { 200: PushRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const row = await renewAddress(contextOf(options, request), request.params.probe_id, called)
      return recordOf(row, seesSecrets(request.access))
    },
  )
}
