import { Type } from 'typebox'
import { errorResponses, type HttpApp, linkedEntries, NoContent, visibleTo } from '../../http/index.ts'
import type { Clock } from '../../lib/index.ts'
import { CreateQuery, contextOf } from '../../management/index.ts'
import type { Store } from '../../store/index.ts'
import { createMaintenance, listMaintenance, removeMaintenance, updateMaintenance } from './maintenance.ts'
import {
  CreateMaintenance,
  MaintenanceParams,
  MaintenanceQuery,
  MaintenanceRecord,
  maintenanceRecord,
  UpdateMaintenance,
} from './schemas.ts'

export interface MaintenanceRouteOptions {
  store: Store
  clock: Clock
}

const tags = ['Maintenance']
const path = '/api/maintenance/:maintenance_id'

/** Adds the routes of maintenance. */
export function maintenanceRoutes(app: HttpApp, options: MaintenanceRouteOptions): void {
  const { store, clock } = options

  app.get(
    '/api/maintenance',
    {
      config: { scope: 'visible' },
      schema: {
        tags,
        summary: 'List maintenance',
        description: 'Most recently created first. A `Link` header with `rel="next"` leads to older entries.',
        querystring: MaintenanceQuery,
        response: { 200: Type.Array(MaintenanceRecord, { description: 'Newest first' }) },
      },
    },
    async (request, reply) =>
      linkedEntries(
        request,
        reply,
        await listMaintenance(store, visibleTo(request.access), request.query, clock.now()),
      ),
  )

  app.post(
    '/api/maintenance',
    {
      config: { scope: 'named' },
      schema: {
        tags,
        summary: 'Plan maintenance',
        description:
          'Once (`starts_at`, `ends_at`) or each week (`weekdays`, `start`, `duration_minutes`, `timezone`), for a client, a site ' +
          'or a probe: give exactly one of the three. Meanwhile no notifications are sent and results are marked; notifications about what is still bad ' +
          'at the end are sent then. 409 when the client has 500 that are not over.',
        querystring: CreateQuery,
        body: CreateMaintenance,
        response: { 201: MaintenanceRecord, ...errorResponses(409) },
      },
    },
    async (request, reply) => {
      const row = await createMaintenance(contextOf(options, request), request.body)
      return reply.code(201).send(maintenanceRecord(row, clock.now()))
    },
  )

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Change maintenance',
        description: 'Changes the given fields. Its kind and what it applies to cannot change.',
        params: MaintenanceParams,
        body: UpdateMaintenance,
        response: { 200: MaintenanceRecord, ...errorResponses(404, 409) },
      },
    },
    async (request) => {
      const { maintenance_id } = request.params
      const row = await updateMaintenance(contextOf(options, request), maintenance_id, request.body)
      return maintenanceRecord(row, clock.now())
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Delete maintenance',
        description: 'Ends it if it is in progress. Results and alerts still refer to it.',
        params: MaintenanceParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await removeMaintenance(contextOf(options, request), request.params.maintenance_id)
      return reply.code(204).send(null)
    },
  )
}
