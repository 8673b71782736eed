import { Type } from 'typebox'
import {
  errorResponses,
  type HttpApp,
  linkedEntries,
  NoContent,
  seesSecrets,
  sendRecords,
  visibleTo,
} from '../../http/index.ts'
import { type Clock, notFound } from '../../lib/index.ts'
import { CreateQuery, contextOf } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { pushAddressRoutes } from '../push/address-routes.ts'
import type { Registry } from '../registry.ts'
import type { Scheduler } from '../scheduler.ts'
import { createProbe, removeProbe, updateProbe } from './changes.ts'
import { ExpectationQuery, ExpectationRecord, probeExpectation } from './expectation.ts'
import { mostProbes } from './probe-room.ts'
import {
  getProbe,
  listResults,
  placed,
  probeIds,
  probeRecord,
  probesOf,
  probeTypeRecord,
  resultRecord,
} from './record.ts'
import {
  CreateProbe,
  ProbeParams,
  ProbeQuery,
  ProbeRecord,
  ProbeTypeRecord,
  ResultQuery,
  ResultRecord,
  UpdateProbe,
} from './schemas.ts'

export interface ProbeRouteOptions {
  store: Store
  clock: Clock
  registry: Registry
  scheduler: Pick<Scheduler, 'runNow'>
  /** Without a trailing slash; null when it is not configured. */
  publicUrl: string | null
}

const tags = ['Probes']
const path = '/api/probes/:probe_id'

/** Adds the routes of the API for types, probes and results. */
export function probeRoutes(app: HttpApp, options: ProbeRouteOptions): void {
  const { store, registry, scheduler } = options
  pushAddressRoutes(app, options)

  app.get(
    '/api/probe-types',
    {
      config: { scope: 'anyone' },
      schema: {
        tags,
        summary: 'List the types of probes',
        description: 'What each type checks, which fields of the site it needs, and its settings.',
        response: { 200: Type.Array(ProbeTypeRecord) },
      },
    },
    async () => [...registry.values()].map(probeTypeRecord),
  )

  app.get(
    '/api/probes',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List probes',
        description:
          'Probes of one site, of one client or of all. `active_only` keeps active probes of active sites of active clients.',
        querystring: ProbeQuery,
        response: { 200: Type.Array(ProbeRecord, { description: 'Oldest first' }) },
      },
    },
    async (request, reply) => {
      const page = await probeIds(store, visibleTo(request.access), request.query)
      return sendRecords(request, reply, page, async (ids) =>
        (await probesOf(store, ids)).map((row) =>
          probeRecord(registry, row, seesSecrets(request.access, row.client_id)),
        ),
      )
    },
  )

  app.post(
    '/api/probes',
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'Create a probe',
        description:
          'It runs for the first time within one interval. Fields that are left out get the defaults of the type. 409 when a caller who sees only some ' +
          'clients adds more than 5,000 probes to one.',
        querystring: CreateQuery,
        body: CreateProbe,
        response: { 201: ProbeRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const row = await createProbe(contextOf(options, request), registry, request.body, mostProbes(request.access))
      return reply.code(201).send(probeRecord(registry, await placed(store.write, row), seesSecrets(request.access)))
    },
  )

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a probe',
        description: 'The probe with its last result. Secret settings are never returned.',
        params: ProbeParams,
        response: { 200: ProbeRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const row = await getProbe(store, request.params.probe_id)
      return probeRecord(registry, await placed(store.read, row), seesSecrets(request.access))
    },
  )

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Change a probe',
        description:
          'Changes the given fields, and the given settings in `config`; null resets a setting to its default.',
        params: ProbeParams,
        body: UpdateProbe,
        response: { 200: ProbeRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { probe_id } = request.params
      const row = await updateProbe(contextOf(options, request), registry, probe_id, request.body)
      return probeRecord(registry, await placed(store.write, row), seesSecrets(request.access))
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Delete a probe',
        description: 'Deletes the probe with its results.',
        params: ProbeParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeProbe(contextOf(options, request), registry, request.params.probe_id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/run`,
    {
      // It waits for other systems, so it needs no slot.
      config: { work: 'none' },
      schema: {
        tags,
        summary: 'Run a probe now',
        description:
          'Returns the result, which counts like any other. If a run is already in progress, waits for its result; 409 while another node runs the probe, or 8 probes of its client (32 in all) are being run by hand. 429 after six manual runs of a probe in a minute on one node.',
        params: ProbeParams,
        response: { 200: ResultRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const finished = await scheduler.runNow(request.params.probe_id)
      if (finished === undefined) throw notFound('Probe')
      return resultRecord(finished.result)
    },
  )

  app.get(
    `${path}/results`,
    {
      schema: {
        tags,
        summary: "List a probe's results",
        description:
          'Newest first. A `Link` header with `rel="next"` leads to older ones. Of results older than four days, at least one an hour and every ' +
          'change of status is kept, and at least one a day after two weeks.',
        params: ProbeParams,
        querystring: ResultQuery,
        response: { 200: Type.Array(ResultRecord, { description: 'Newest first' }), ...errorResponses(404) },
      },
    },
    async (request, reply) =>
      linkedEntries(request, reply, await listResults(store, request.params.probe_id, request.query)),
  )

  app.get(
    `${path}/expectation`,
    {
      // It may have to read and learn weeks of hours.
      config: { work: 'report' },
      schema: {
        tags,
        summary: 'Read what a probe expects',
        description:
          'For a `data_volume` or `data_freshness` probe: how many events it expects in each hour of the last and the next day, and ' +
          'which counts would pass within its budget of false alarms. 404 for other types of probes.',
        params: ProbeParams,
        querystring: ExpectationQuery,
        response: { 200: ExpectationRecord, ...errorResponses(404) },
      },
    },
    async (request) => probeExpectation(options, request.params.probe_id, request.query),
  )
}
