import type { FastifyRequest } from 'fastify'
import { errorResponses, type HttpApp, NoContent, seesSecrets } from '../../http/index.ts'
import type { StatusLinkRow } from '../../store/index.ts'
import { contextOf, type ManagementOptions } from '../context.ts'
import { createStatusLink } from './create.ts'
import { readStatusLink } from './find.ts'
import { statusLinkRecord, withoutSecrets } from './record.ts'
import { revokeStatusLink } from './revoke.ts'
import { StatusLinkParams, StatusLinkRecord } from './schemas.ts'

const tags = ['Clients']
const path = '/api/clients/:client_id/status-link'

export function statusLinkRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store, publicUrl } = options

  const recordFor = (
    { access }: Pick<FastifyRequest, 'access'>,
    clientId: string,
    row: StatusLinkRow | undefined,
  ): StatusLinkRecord => {
    const record = statusLinkRecord(clientId, row, publicUrl)
    return seesSecrets(access) ? record : withoutSecrets(record)
  }

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "Read the link to a client's status page",
        description: 'Whether there is one, and its address. Viewers see the former only.',
        params: StatusLinkParams,
        response: { 200: StatusLinkRecord, ...errorResponses(404) },
      },
    },
    async (request) => {
      const { client_id: clientId } = request.params
      return recordFor(request, clientId, await readStatusLink(store.read, clientId))
    },
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: "Share a client's status page",
        description:
          'Makes the link that shows the status of the client and its sites to anyone who has it, without a key. 200 with the ' +
          'link that is there when there is one.',
        params: StatusLinkParams,
        response: { 200: StatusLinkRecord, 201: StatusLinkRecord, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { client_id: clientId } = request.params
      const { row, isNew } = await createStatusLink(contextOf(options, request), clientId)
      return reply.code(isNew ? 201 : 200).send(recordFor(request, clientId, row))
    },
  )

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: "Revoke the link to a client's status page",
        description: 'The link opens nothing from now on, for good: sharing again makes another one.',
        params: StatusLinkParams,
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      await revokeStatusLink(contextOf(options, request), request.params.client_id)
      return reply.code(204).send(null)
    },
  )
}
